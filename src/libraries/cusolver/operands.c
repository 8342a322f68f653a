// Which memory a call of cuSOLVER reads and writes.
#include "libraries/cusolver/internal.h"

void add_matrix(LibraryCall *c, const Work *w, Shape s) {
  Operand o = operand_of_matrix(s.name, s.p, element_of(w), (uint64_t)s.rows, (uint64_t)s.columns,
                                (uint64_t)s.ld);
  o.access = s.access;
  o.shape = s.shape;
  call_operand(c, &o);
}

void add_vector(LibraryCall *c, const char *name, const void *p, Element e, int n,
                unsigned access) {
  Operand o = operand_of_vector(name, p, e, (uint64_t)n, 1);
  o.access = access;
  call_operand(c, &o);
}

void add_pivots(LibraryCall *c, const Work *w, int n, unsigned access) {
  Element e = {w->wide_pivots ? 8 : 4, OPERAND_OTHER};
  if (w->pivots) add_vector(c, "ipiv", w->pivots, e, n, access);
}

void add_info(LibraryCall *c, const Work *w) {
  Element e = {sizeof(int), OPERAND_OTHER};
  if (w->info) add_vector(c, "info", w->info, e, MAX_OF(1, w->batch), OPERAND_WRITE);
}

// The library may use all of the bytes that the program says are there.
bool add_workspace(LibraryCall *c, const Work *w, int m, int n) {
  int64_t least = (int64_t)workspace_elements(m, n) * number_bytes(w->type);
  if (w->workspace_bytes < least) return false;
  Operand o = operand_of_vector("the workspace", w->workspace, (Element){1, OPERAND_OTHER},
                                (uint64_t)w->workspace_bytes, 1);
  o.access = OPERAND_WRITE | OPERAND_PARTLY;
  call_operand(c, &o);
  return true;
}
