// Frames that a stack leaves out, by the names of noise.def.
#include "symbol/symbol.h"

static const struct {
  SymbolNoise where;
  const char *name;
} table[] = {
#define NOISE(where, name) {SYMBOL_##where, name},
#include "symbol/noise.def"
};

SymbolNoise symbol_noise(const char *function) {
  for (size_t i = 0; function && i < ARRAY_LEN(table); i++) {
    size_t n = strlen(table[i].name);
    bool prefix = table[i].name[n - 1] == '*';
    if (prefix ? !strncmp(function, table[i].name, n - 1) : !strcmp(function, table[i].name))
      return table[i].where;
  }
  return SYMBOL_PROGRAM;
}
