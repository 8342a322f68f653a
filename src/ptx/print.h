// Internals of the printer, shared by printer.c and print_var.c.
#ifndef WG_PTX_PRINT_H
#define WG_PTX_PRINT_H

#include "ptx/ptx.h"

// --- printer.c ---
void print_int(Str *out, int64_t v, bool is_unsigned);
void print_hex(Str *out, const char *prefix, uint64_t bits, int digits);
void print_linkage(PtxLinkage l, Str *out);

// --- print_var.c ---
void print_var(const PtxVar *v, Str *out);         // with linkage and initializer, without ';'
void print_signature(const PtxFunc *f, Str *out);  // (returns) name (params)

#endif
