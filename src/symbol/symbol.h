// symbol: turns return addresses of a process, which may have ended, into functions, files and
// lines. In the command only; uses elfutils. Works from the files on disk; does not use a file that
// has changed since (build id).
#ifndef WG_SYMBOL_H
#define WG_SYMBOL_H

#include "base/base.h"
#include "where/where.h"

// what is known of files, for all processes; found by path and build id
typedef struct SymbolStore SymbolStore;
typedef struct SymbolTable SymbolTable;  // the objects of one process
// function, file NULL: not known. folder: what a relative file is relative to, where that is known.
typedef struct SymbolFrame {
  const char *function, *file, *object, *folder;
  uint32_t line;
  uint64_t address;
  bool inlined;
} SymbolFrame;

// --- store.c ---
SymbolStore *symbol_store_new(void);
void symbol_store_free(SymbolStore *s);  // after its tables
// --- table.c ---
SymbolTable *symbol_table_new(SymbolStore *s);
void symbol_table_add(SymbolTable *t, const WhereObject *o);  // opened when first needed
// inlined functions first; strings live with the store
uint32_t symbol_lookup(SymbolTable *t, uint64_t return_address, SymbolFrame *out, uint32_t max);
void symbol_table_free(SymbolTable *t);
// --- name.c ---
// a C++ name as people write it; lives with the store
const char *symbol_readable_name(SymbolStore *s, const char *linkage_name);

// --- noise.c: noise.def, the functions that say nothing about a program ---
typedef enum {
  SYMBOL_PROGRAM,
  SYMBOL_START,
  SYMBOL_LAUNCH,
  SYMBOL_CUDA,
  SYMBOL_PYTHON
} SymbolNoise;
SymbolNoise symbol_noise(const char *function);

#endif
