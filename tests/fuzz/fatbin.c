// Fuzz target: whatever a program may hand to the driver as code: fatbins, wrappers in files, archives, host ELF files.
// seeds: tests/fuzz/seeds/fatbin/*
#include "image/image.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  // A wrapper holds pointers; in a file they mean nothing.
  if (size < 64 || image_identify(data) == IMAGE_FATBIN_WRAPPER) return 0;
  Error err = {0};
  Image image;
  if (!image_open(data, size, &image, &err)) {
    CHECK(err.text[0]);
    return 0;
  }
  Arena arena = {0};
  for (uint32_t i = 0; i < image.entries.len; i++) {
    const ImageEntry *entry = &image.entries.data[i];
    const void *bytes;
    const char *text;
    size_t n;
    if (entry->size > (16u << 20)) continue;   // a lie about the size must not eat the machine: that is tested elsewhere
    if (entry->kind == IMAGE_ENTRY_PTX) image_entry_text(entry, &arena, &text, &n, &err);
    else image_entry_data(entry, &arena, &bytes, &n, &err);
  }
  ImageEntryList chosen = {0};
  image_choose_ptx(&image, 90, IMAGE_ANY_ARCH | IMAGE_PREFER_PLAIN | IMAGE_USE_DEBUG_PTX, &chosen, &err);
  vec_free(&chosen);
  arena_free(&arena);
  image_close(&image);
  return 0;
}
