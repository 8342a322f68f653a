// Inside symbol/.
#ifndef WG_SYMBOL_INTERNAL_H
#define WG_SYMBOL_INTERNAL_H

#include "symbol/symbol.h"

// A file that processes have loaded, whatever address they loaded it at.
typedef struct SymbolFile {
  const char *path;
  uint8_t build_id[20];
  uint32_t build_id_len;
  struct Dwfl *dwfl;  // NULL: not open
  struct Dwfl_Module *module;
  uint64_t base;  // address in the module minus address in the file
  uint64_t used;  // when it was last asked
  bool unusable;  // the file is gone or another one now
  U64Map found;   // address in the file → FoundFrames
} SymbolFile;

typedef struct FoundFrames {
  uint32_t n;
  SymbolFrame frames[];
} FoundFrames;

struct SymbolStore {
  Arena strings;
  StrMap texts;  // every string once
  StrMap names;  // linkage name → the name people read
  StrMap files;  // path and build id → SymbolFile
  StrMap types;  // type.c: what was looked for → SymbolType
  VEC(SymbolFile *) open;
  uint64_t clock;
};

typedef struct SymbolObject {
  const char *path;
  uint64_t start, end, bias;
  uint8_t build_id[20];
  uint32_t build_id_len;
  SymbolFile *file;  // NULL: not asked for yet
} SymbolObject;

struct SymbolTable {
  SymbolStore *store;
  VEC(SymbolObject) objects;
};

// --- store.c ---
const char *symbol_text(SymbolStore *s, const char *text);  // the store's own copy; NULL stays NULL
SymbolFile *symbol_file(SymbolStore *s, const SymbolObject *o);
bool symbol_file_open(SymbolStore *s, SymbolFile *f);  // false: it cannot be used
// Inlined functions first. 0: nothing is known. address: in the file.
uint32_t symbol_file_lookup(SymbolStore *s, SymbolFile *f, uint64_t address, SymbolFrame *out,
                            uint32_t max);

// --- table.c ---
SymbolObject *symbol_find_object(SymbolTable *t, uint64_t address);  // NULL: none

// --- dwarf.c: one file, by elfutils ---
bool symbol_dwarf_open(SymbolFile *f);  // false: the file is gone or another one now
void symbol_dwarf_close(SymbolFile *f);
uint32_t symbol_dwarf_lookup(SymbolStore *s, SymbolFile *f, uint64_t address, SymbolFrame *out,
                             uint32_t max);

#endif
