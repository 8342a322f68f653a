// Inside symbol/.
#ifndef WG_SYMBOL_INTERNAL_H
#define WG_SYMBOL_INTERNAL_H

#include "symbol/symbol.h"

typedef struct SymbolObject {
  const char *path;
  uint64_t start, end, bias;
  uint8_t build_id[20]; uint32_t build_id_len;
  bool opened;
  struct Dwfl *dwfl;                       // NULL after opening: the file is gone or another one now
  struct Dwfl_Module *module;
} SymbolObject;

struct SymbolTable {
  VEC(SymbolObject) objects;
  Arena strings;
  StrMap names;                            // linkage name → the name people read
};

// --- object.c: one file, by elfutils ---
uint32_t symbol_object_lookup(SymbolTable *t, SymbolObject *o, uint64_t pc, SymbolFrame *out, uint32_t max);   // 0: nothing is known
void symbol_object_close(SymbolObject *o);

// --- name.c ---

#endif
