// Fuzz target: the readers of GPU and host ELF files. The magic number and the machine are put in
// place, so that they are reached at once.
// seeds: tests/fuzz/seeds/cubin/*
#include <elf.h>

#include "image/image.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size < sizeof(Elf64_Ehdr)) return 0;
  uint8_t *copy = malloc(size);
  for (int machine = 0; machine < 2; machine++) {
    memcpy(copy, data, size);
    memcpy(copy, ELFMAG "\2\1\1", SELFMAG + 3);
    uint16_t number = machine ? 62 : 190;
    memcpy(copy + offsetof(Elf64_Ehdr, e_machine), &number, sizeof number);
    Arena arena = {0};
    Cubin cubin;
    Image image;
    Error e = {0};
    if (image_read_cubin(&arena, copy, size, &cubin, &e)) {
      for (uint32_t i = 0; i < cubin.n_kernels; i++) CHECK(cubin.kernels[i].name);
      CHECK(!cubin.ptx || strlen(cubin.ptx) == cubin.ptx_len);
    } else {
      CHECK(e.text[0]);
    }
    if (image_open(copy, size, &image, &e)) image_close(&image);
    arena_free(&arena);
  }
  free(copy);
  return 0;
}
