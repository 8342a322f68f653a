// Turns the marks in the text of a report into colours on a terminal, and removes them elsewhere. A
// mark is one control character: if a text of the program contains one, it can change a colour and
// nothing else.
#include "report/report.h"

static const char *const codes[] = {
    [1] = "\033[1;31m", [2] = "\033[1;33m", [3] = "\033[1;36m", [4] = "\033[1m", [5] = "\033[0m"};

void report_style(const char *text, size_t n, bool colour, Str *out) {
  bool on = false;
  for (size_t i = 0; i < n; i++) {
    unsigned char c = (unsigned char)text[i];
    if (c && c < ARRAY_LEN(codes)) {
      if (!colour) continue;
      str_add(out, codes[c]);
      on = c != REPORT_PLAIN[0];
    } else str_addc(out, (c < 0x20 && c != '\t' && c != '\n') || c == 0x7f ? '?' : (char)c);
  }
  if (on) str_add(out, codes[(unsigned char)REPORT_PLAIN[0]]);
}
