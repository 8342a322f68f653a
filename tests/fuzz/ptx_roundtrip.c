// Fuzz target: what parses and verifies prints to text that prints the same again, and does so
// after renaming.
// seeds: tests/ptx/golden/*.ptx tests/ptx/bad/*.ptx examples/*/ptx/*.ptx
#include "ptx/ptx.h"

static PtxModule *parse(const char *text, size_t len, bool verify) {
  Error err = {""};
  PtxModule *m = ptx_parse(text, len, "fuzz", &err);
  CHECK(m || err.text[0]);
  if (m && verify && !ptx_verify(m, &err)) {
    CHECK(err.text[0]);
    ptx_free(m);
    m = NULL;
  }
  return m;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  PtxModule *m = parse((const char *)data, size, true);
  if (!m) return 0;
  Str first = {0}, second = {0}, renamed = {0};
  ptx_print(m, &first);
  PtxModule *again = parse(first.data, first.len, true);
  if (!again) fprintf(stderr, "printed text is refused:\n%s\n", first.data);
  CHECK(again);
  ptx_print(again, &second);
  if (first.len != second.len || memcmp(first.data, second.data, first.len))
    fprintf(stderr, "--- first\n%s\n--- second\n%s\n", first.data, second.data);
  CHECK(first.len == second.len && !memcmp(first.data, second.data, first.len));
  ptx_rename_all(m);
  ptx_print(m, &renamed);
  PtxModule *third = parse(renamed.data, renamed.len, true);
  if (!third) fprintf(stderr, "renamed text is refused:\n%s\n", renamed.data);
  CHECK(third);
  str_free(&first);
  str_free(&second);
  str_free(&renamed);
  ptx_free(third);
  ptx_free(again);
  ptx_free(m);
  return 0;
}
