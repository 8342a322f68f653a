// A small driver for the tests of src/ptx: parse, then print, rename, check or time.
#include <time.h>

#include "ptx/ptx.h"

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

int main(int argc, char **argv) {
  const char *mode = "--print";
  int failed = 0;
  for (int i = 1; i < argc; i++) {
    if (!strncmp(argv[i], "--", 2)) { mode = argv[i]; continue; }
    Str text = {0}, out = {0};
    Error err = {""};
    if (!file_read(argv[i], &text, &err)) { fprintf(stderr, "%s\n", err.text); return 125; }
    if (!strcmp(mode, "--time")) {
      double best = 1e9;
      for (int k = 0; k < 5; k++) {
        double t = now();
        PtxModule *m = ptx_parse(text.data, text.len, argv[i], &err);
        t = now() - t;
        if (!m) { fprintf(stderr, "%s\n", err.text); return 1; }
        ptx_free(m);
        if (t < best) best = t;
      }
      printf("%s: %.2f MB, %.1f MB/s\n", argv[i], (double)text.len / 1e6, (double)text.len / 1e6 / best);
      str_free(&text);
      continue;
    }
    PtxModule *m = ptx_parse(text.data, text.len, argv[i], &err);
    if (!m) {
      fprintf(stderr, "%s\n", err.text);
      failed = 1;
    } else {
      if (strcmp(mode, "--parse") && !ptx_verify(m, &err)) fprintf(stderr, "%s\n", err.text), failed = 1;
      if (!strcmp(mode, "--rename")) ptx_rename_all(m);
      if (!strcmp(mode, "--rename") || !strcmp(mode, "--print")) ptx_print(m, &out), fwrite(out.data, 1, out.len, stdout);
      ptx_free(m);
    }
    str_free(&text);
    str_free(&out);
  }
  return failed;
}
