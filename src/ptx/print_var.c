// Declarations and initializers as text.
#include "ptx/print.h"

const char *ptx_space_name(PtxSpace s) {
  static const char *const names[] = {"",       ".reg",   ".sreg",   ".const", ".global",
                                      ".local", ".param", ".shared", ".tex",   ""};
  return names[s];
}

static void print_head(const PtxVar *v, Str *out) {
  str_add(out, ptx_space_name(v->space));
  if (v->managed && v->unified)
    str_printf(out, " .attribute(.managed, .unified(0x%llX, 0x%llX))",
               (unsigned long long)v->unified_ids[0], (unsigned long long)v->unified_ids[1]);
  else if (v->managed) str_add(out, " .attribute(.managed)");
  else if (v->unified)
    str_printf(out, " .attribute(.unified(0x%llX, 0x%llX))", (unsigned long long)v->unified_ids[0],
               (unsigned long long)v->unified_ids[1]);
  if (v->align_given) str_printf(out, " .align %u", v->align);
  if (v->vector) str_printf(out, " .v%u", v->vector);
  str_printf(out, " .%s", ptx_type_name(v->type));
  if (v->is_ptr) {
    str_add(out, " .ptr");
    if (v->ptr_space != SPACE_GENERIC) str_printf(out, " %s", ptx_space_name(v->ptr_space));
    if (v->ptr_align) str_printf(out, " .align %u", v->ptr_align);
  }
  str_printf(out, " %s", v->name);
  for (unsigned i = 0; i < v->ndims; i++) {
    if (i == 0 && !v->dims[0] && !v->init) str_add(out, "[]");
    else str_printf(out, "[%llu]", (unsigned long long)v->dims[i]);
  }
}

static void print_reloc(const PtxReloc *r, Str *out) {
  const char *name = r->var ? r->var->name : r->func->name;
  if (r->mask) {
    print_hex(out, "0x", r->mask, 16);
    str_addc(out, '(');
  }
  str_printf(out, r->generic ? "generic(%s)" : "%s", name);
  if (r->addend > 0) str_printf(out, "+%lld", (long long)r->addend);
  if (r->addend < 0) str_printf(out, "+-%llu", -(unsigned long long)r->addend);
  if (r->mask) str_addc(out, ')');
}

static void print_value(const PtxVar *v, unsigned size, uint64_t offset, Str *out) {
  uint64_t bits = 0;
  memcpy(&bits, v->init + offset, MIN(size, 8u));
  if (v->type == TYPE_F32) print_hex(out, "0f", bits, 8);
  else if (v->type == TYPE_F64) print_hex(out, "0d", bits, 16);
  else if (size <= 2) print_int(out, (int64_t)bits, true);
  else if (bits < 1000000) print_int(out, (int64_t)bits, true);
  else print_hex(out, "0x", bits, (int)MIN(size, 8u) * 2);
}

typedef struct Cursor {
  const PtxVar *v;
  unsigned size;
  uint32_t reloc;
  uint64_t used;
} Cursor;

// Prints one dimension from `offset` on; values past the last non-zero one are left out.
static void print_level(Cursor *c, unsigned level, uint64_t offset, uint64_t span, Str *out) {
  const PtxVar *v = c->v;
  unsigned levels = v->ndims + (v->vector ? 1u : 0u);
  if (level == levels) {
    if (c->reloc < v->nrelocs && v->relocs[c->reloc].offset == offset)
      print_reloc(&v->relocs[c->reloc++], out);
    else print_value(v, c->size, offset, out);
    return;
  }
  uint64_t count = level < v->ndims ? v->dims[level] : v->vector, row = count ? span / count : 0;
  str_addc(out, '{');
  for (uint64_t i = 0; i < count; i++) {
    // At least one value is printed: an empty initializer is no initializer for some assemblers.
    if (i && offset + i * row >= c->used) break;
    if (i) str_add(out, i % 16 || level + 1 < levels ? "," : ",\n");
    print_level(c, level + 1, offset + i * row, row, out);
  }
  str_addc(out, '}');
}

static int by_offset(const void *a, const void *b) {
  uint64_t x = ((const PtxReloc *)a)->offset, y = ((const PtxReloc *)b)->offset;
  return x < y ? -1 : x > y;
}

static void print_initializer(const PtxVar *v, Str *out) {
  if (v->init_text) {
    str_printf(out, " = %s", v->init_text);
    return;
  }
  if (!v->init || !v->size) return;
  Cursor c = {v, MAX(ptx_type_size(v->type), 1u), 0, v->size};
  while (c.used && !v->init[c.used - 1]) c.used--;
  if (v->nrelocs) {
    qsort(v->relocs, v->nrelocs, sizeof *v->relocs, by_offset);
    c.used = MAX(c.used, v->relocs[v->nrelocs - 1].offset + 1);
  }
  str_add(out, " = ");
  print_level(&c, 0, 0, v->size, out);
}

void print_var(const PtxVar *v, Str *out) {
  print_linkage(v->linkage, out);
  print_head(v, out);
  print_initializer(v, out);
}

static void print_params(PtxVar *const *vars, uint32_t n, const char *separator, Str *out) {
  str_addc(out, '(');
  for (uint32_t i = 0; i < n; i++) {
    if (i) str_addc(out, ',');
    str_add(out, separator);
    PtxVar v = *vars[i];
    if (v.reg) v.name = v.reg->name;  // renaming changes the register
    print_head(&v, out);
  }
  str_addc(out, ')');
}

void print_signature(const PtxFunc *f, Str *out) {
  if (f->nreturns) {
    print_params(f->returns, f->nreturns, "", out);
    str_addc(out, ' ');
  }
  str_add(out, f->name);
  if (f->nparams || !f->is_entry)
    print_params(f->params, f->nparams, f->nparams > 1 ? "\n\t" : "", out);
}
