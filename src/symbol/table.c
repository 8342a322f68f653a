// The objects of one process, and which of them holds an address.
#include "symbol/internal.h"

SymbolTable *symbol_table_new(SymbolStore *s) {
  SymbolTable *t = mem_alloc(sizeof *t);
  t->store = s;
  return t;
}

static bool same_object(const SymbolObject *a, const WhereObject *b) {
  return a->start == b->start && a->end == b->end && a->bias == b->bias &&
         a->build_id_len == b->build_id_len &&
         memcmp(a->build_id, b->build_id, b->build_id_len) == 0 && strcmp(a->path, b->path) == 0;
}

void symbol_table_add(SymbolTable *t, const WhereObject *o) {
  for (uint32_t i = 0; i < t->objects.len; i++)
    if (same_object(&t->objects.data[i], o)) {
      if (i + 1 == t->objects.len) return;
      SymbolObject again = t->objects.data[i];  // loaded again, after others used its addresses
      memmove(&t->objects.data[i], &t->objects.data[i + 1],
              (t->objects.len - i - 1) * sizeof again);
      t->objects.data[t->objects.len - 1] = again;
      return;
    }
  SymbolObject n = {.path = symbol_text(t->store, o->path),
                    .start = o->start,
                    .end = o->end,
                    .bias = o->bias,
                    .build_id_len = o->build_id_len};
  memcpy(n.build_id, o->build_id, MIN(o->build_id_len, sizeof n.build_id));
  vec_push(&t->objects, n);
}

// The newest object: it may lie where another library was unloaded.
SymbolObject *symbol_find_object(SymbolTable *t, uint64_t address) {
  for (uint32_t i = t->objects.len; i-- > 0;)
    if (address >= t->objects.data[i].start && address < t->objects.data[i].end)
      return &t->objects.data[i];
  return NULL;
}

// Looks up the byte before the return address: it belongs to the call instruction.
uint32_t symbol_lookup(SymbolTable *t, uint64_t return_address, SymbolFrame *out, uint32_t max) {
  if (max == 0 || return_address == 0) return 0;
  uint64_t pc = return_address - 1;
  SymbolObject *o = symbol_find_object(t, pc);
  if (o && !o->file) o->file = symbol_file(t->store, o);
  uint32_t n = o ? symbol_file_lookup(t->store, o->file, pc - o->bias, out, max) : 0;
  if (n == 0) out[n++] = (SymbolFrame){.object = o ? o->path : NULL};
  for (uint32_t i = 0; i < n; i++) {
    out[i].object = o ? o->path : NULL;
    out[i].address = o ? return_address - o->bias : return_address;
  }
  return n;
}

void symbol_table_free(SymbolTable *t) {
  if (!t) return;
  vec_free(&t->objects);
  free(t);
}
