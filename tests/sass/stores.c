// Prints what a kernel of a cubin stores, as tests/sass/stores.cu has it.
#include <stdio.h>

#include "image/image.h"
#include "sass/sass.h"

static int by_param(const void *a, const void *b) {
  uint32_t x = ((const SassStore *)a)->param, y = ((const SassStore *)b)->param;
  return (x > y) - (x < y);
}

static int by_number(const void *a, const void *b) {
  uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
  return (x > y) - (x < y);
}

static void print_formats(uint32_t formats) {
  static const char *const names[] = {"other", "f16", "bf16", "f32", "f64"};
  for (unsigned f = 0; f < ARRAY_LEN(names); f++)
    if (formats >> f & 1) printf(" %s", names[f]);
}

int main(int n, char **args) {
  Str file = {0};
  CubinCode c;
  Arena arena = {0};
  SassStores s;
  if (n < 3 || !file_read(args[1], &file, NULL)) return 2;
  if (!image_cubin_code(file.data, file.len, args[2], &c)) {
    puts("no such kernel");
    return 1;
  }
  SassKernel k = {c.code, c.bytes, c.arch, c.param_base, c.param_bytes};
  if (!sass_stores(&k, &arena, &s)) {
    puts("unknown generation");
    return 1;
  }
  if (n > 3) {
    qsort(s.reads, s.nreads, sizeof s.reads[0], by_number);
    for (uint32_t i = 0; i < s.nreads; i++) printf("%s%u", i ? " " : "", s.reads[i]);
    puts("");
    return 0;
  }
  qsort(s.list, s.n, sizeof s.list[0], by_param);
  for (uint32_t i = 0; i < s.n; i++) {
    printf(i ? ", " : "");
    if (s.list[i].param == SASS_NO_PARAM) printf("?");
    else printf("%u", s.list[i].param);
    print_formats(s.list[i].formats);
  }
  puts(s.anywhere ? " anywhere" : "");
  arena_free(&arena);
  str_free(&file);
  return 0;
}
