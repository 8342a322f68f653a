// symbol: from return addresses of a process that may have ended to functions, files and lines. In the command only; uses
// elfutils. Works from the files on disk; a file that changed since (build id) is not used.
#ifndef WG_SYMBOL_H
#define WG_SYMBOL_H

#include "base/base.h"
#include "where/where.h"

typedef struct SymbolTable SymbolTable;                  // the objects of one process
// function, file NULL: not known. folder: what a relative file is relative to, where that is known.
typedef struct SymbolFrame { const char *function, *file, *object, *folder; uint32_t line; uint64_t address; bool inlined; } SymbolFrame;
SymbolTable *symbol_table_new(void);
void symbol_table_add(SymbolTable *t, const WhereObject *o);                 // opened when first needed
uint32_t symbol_lookup(SymbolTable *t, uint64_t return_address, SymbolFrame *out, uint32_t max);   // inlined functions first; strings live with the table
const char *symbol_readable_name(SymbolTable *t, const char *linkage_name);   // a C++ name as people write it; lives with the table
void symbol_table_free(SymbolTable *t);

// --- noise.c: noise.def, the functions that say nothing about a program ---
typedef enum { SYMBOL_PROGRAM, SYMBOL_START, SYMBOL_LAUNCH, SYMBOL_CUDA, SYMBOL_PYTHON } SymbolNoise;
SymbolNoise symbol_noise(const char *function);

#endif
