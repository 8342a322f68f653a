// Reads what test_save wrote, symbolizes it, and prints one line for each frame: LABEL FUNCTION
// FILE:LINE [inlined] or LABEL ? OBJECT+OFFSET.
#include "symbol/symbol.h"

int main(int argc, char **argv) {
  Error err;
  Str text = {0};
  if (argc != 2 || !file_read(argv[1], &text, &err)) return 1;
  SymbolStore *s = symbol_store_new();
  SymbolTable *t = symbol_table_new(s);
  char label[64] = "";
  char *save;
  for (char *line = strtok_r(text.data, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
    unsigned long long a, b, c;
    char id[64];
    int at = 0;
    if (sscanf(line, "stack %63s", label) == 1) continue;
    if (sscanf(line, "object %llx %llx %llx %63s %n", &a, &b, &c, id, &at) == 4 && at) {
      WhereObject o = {.path = line + at, .start = a, .end = b, .bias = c};
      unsigned byte;
      for (; id[0] != '-' && sscanf(id + 2 * o.build_id_len, "%2x", &byte) == 1; o.build_id_len++)
        o.build_id[o.build_id_len] = (uint8_t)byte;
      symbol_table_add(t, &o);
    } else if (sscanf(line, "frame %llx", &a) == 1) {
      SymbolFrame f[16];
      uint32_t n = symbol_lookup(t, a, f, 16);
      for (uint32_t i = 0; i < n; i++) {
        printf("%s ", label);
        const char *file = f[i].file ? strrchr(f[i].file, '/') : NULL,
                   *object = f[i].object ? strrchr(f[i].object, '/') : NULL;
        printf("%s ", f[i].function ? f[i].function : "?");
        if (f[i].file) printf("%s:%u", file ? file + 1 : f[i].file, f[i].line);
        else printf("%s+", object ? object + 1 : "-");
        puts(f[i].inlined ? " inlined" : "");
      }
    }
  }
  symbol_table_free(t);
  symbol_store_free(s);
  str_free(&text);
  return 0;
}
