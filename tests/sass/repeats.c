// repeats CUBIN KERNEL PARAMETER…: do launches of the kernel with these parameters repeat each
// other's accesses? pN: a pointer at byte N; N=VALUE: a number of 32 bits; N=any: anything.
#include <stdio.h>

#include "image/image.h"
#include "sass/sass.h"

int main(int n, char **args) {
  Str file = {0};
  CubinCode c;
  Error why = {""};
  if (n < 3 || !file_read(args[1], &file, NULL)) return 2;
  if (!image_cubin_code(file.data, file.len, args[2], &c)) {
    puts("no such kernel");
    return 1;
  }
  SassKernel k = {c.code, c.bytes, c.arch, c.param_base, c.param_bytes};
  uint32_t nwords = (c.param_bytes + 3) / 4;
  SassWord *words = mem_alloc((nwords + 1) * sizeof *words);
  for (uint32_t i = 0; i < nwords; i++) words[i].kind = SASS_WORD_SAME;
  for (int i = 3; i < n; i++) {
    unsigned at = (unsigned)strtoul(args[i] + (args[i][0] == 'p'), NULL, 10) / 4;
    const char *value = strchr(args[i], '=');
    if (at + !value >= nwords) return 2;
    words[at].kind = !value                   ? SASS_WORD_LOW
                     : !strcmp(value, "=any") ? SASS_WORD_ANY
                                              : SASS_WORD_NUMBER;
    if (value) words[at].number = (uint32_t)strtoll(value + 1, NULL, 0);
    else words[at + 1].kind = SASS_WORD_HIGH;
  }
  SassParam param = {0, c.param_bytes};
  SassKey key = {{4, 4, 1}, {128, 1, 1}, words, nwords, &param, 1};
  SassProgram *p = sass_program_open(&k);
  bool yes = p && sass_repeats(p, &key, &why);
  printf("%s\n", !p ? "unknown generation" : yes ? "yes" : "no");
  if (getenv("WHY")) puts(why.text);
  sass_program_close(p);
  free(words);
  str_free(&file);
  return 0;
}
