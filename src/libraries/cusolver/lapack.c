#include "libraries/cusolver/lapack.h"

int *pivots_load(const Work *w, int count, int n) {
  int *own = malloc(sizeof *own * (size_t)(count + 1));
  for (int i = 0; own && i < count; i++) {
    int64_t p = !w->pivots       ? i + 1
                : w->wide_pivots ? ((const int64_t *)w->pivots)[i]
                                 : ((const int *)w->pivots)[i];
    bool inside = p && p >= -n && p <= n;
    if (!inside) {
      free(own);
      return NULL;
    }
    own[i] = (int)p;
  }
  return own;
}

void pivots_store(const Work *w, const int *from, int count) {
  for (int i = 0; i < count; i++) {
    if (w->wide_pivots) ((int64_t *)w->pivots)[i] = from[i];
    else ((int *)w->pivots)[i] = from[i];
  }
}

void matrix_copy(const Work *w, const MatrixCopy *c) {
  for (int j = 0; j < c->columns; j++)
    memcpy(element_at(w, c->to, c->to_ld, 0, j), element_at(w, c->from, c->from_ld, 0, j),
           (size_t)c->rows * number_bytes(w->type));
}

void matrix_copy_adjoint(const Work *w, const MatrixCopy *c) {
  size_t bytes = number_bytes(w->type);
  for (int j = 0; j < c->columns; j++)
    for (int i = 0; i < c->rows; i++) {
      char *to = element_at(w, c->to, c->to_ld, i, j);
      memcpy(to, element_at(w, c->from, c->from_ld, j, i), bytes);
      if (w->type == C_32F) ((float *)to)[1] = -((float *)to)[1];
      if (w->type == C_64F) ((double *)to)[1] = -((double *)to)[1];
    }
}
