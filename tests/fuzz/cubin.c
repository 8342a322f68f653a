// Fuzz target: the reader of GPU ELF files.
// seeds: tests/fuzz/seeds/cubin/*
#include "image/image.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  Error err = {0};
  Arena arena = {0};
  Cubin cubin;
  if (!image_read_cubin(&arena, data, size, &cubin, &err)) CHECK(err.text[0]);
  arena_free(&arena);
  return 0;
}
