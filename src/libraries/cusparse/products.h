// C = alpha op(A) op(B) + beta C with a sparse A and dense B and C; vectors are matrices of one
// column.
#ifndef WG_LIBRARIES_CUSPARSE_PRODUCTS_H
#define WG_LIBRARIES_CUSPARSE_PRODUCTS_H

#include "libraries/cusparse/entries.h"

typedef struct ProductWork {
  Sparse a;
  Dense b, c;
  int opa, opb;
  Scalar alpha, beta;
  DataType compute;
} ProductWork;

typedef struct ProductNames {
  const char *call, *b, *c;
} ProductNames;

Status product_submit(const Handle *h, const ProductNames *names, ProductWork *w, void *buffer);
#endif
