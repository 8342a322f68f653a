// cublasStatus_t, which cuBLAS and cuBLASLt share.
#ifndef WG_LIBRARIES_BLAS_STATUS_H
#define WG_LIBRARIES_BLAS_STATUS_H

typedef enum Status {
#define STATUS(name, code, words) name = code,
#include "libraries/common/blas_status.def"
#undef STATUS
} Status;

const char *blas_status_name(Status s);
const char *blas_status_words(Status s);
#endif
