// Fuzz target: whatever a program may hand to the driver as code: fatbins, cubins, PTX text, host
// files, static libraries.
// seeds: tests/fuzz/seeds/fatbin/* tests/fuzz/seeds/cubin/*
#include "image/image.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static FILE *nowhere;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (!nowhere) nowhere = fopen("/dev/null", "w");
  Image image;
  Error e = {0};
  if (!size || !image_open(data, size, &image, &e)) {
    CHECK(!size || e.text[0]);   // every refusal has a reason
    return 0;
  }
  Arena arena = {0};
  for (int flags = 0; flags < 8; flags++) {
    ImageEntryList list = {0};
    e.text[0] = 0;
    if (image_choose_ptx(&image, 90, flags, &list, &e)) {
      for (uint32_t i = 0; i < list.len; i++) {
        const char *text;
        size_t n;
        if (image_entry_text(&list.data[i], &arena, &text, &n, &e)) CHECK(strlen(text) == n);
      }
    } else {
      CHECK(e.text[0] && !list.len);
    }
    vec_free(&list);
  }
  image_print(&image, nowhere);
  arena_free(&arena);
  image_close(&image);
  return 0;
}
