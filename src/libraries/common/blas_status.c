#include "libraries/common/blas_status.h"

const char *blas_status_name(Status s) {
  switch (s) {
#define STATUS(name, code, words) \
  case name: \
    return "CUBLAS_STATUS_" #name;
#include "libraries/common/blas_status.def"
#undef STATUS
  }
  return "CUBLAS_STATUS_UNKNOWN";
}

const char *blas_status_words(Status s) {
  switch (s) {
#define STATUS(name, code, words) \
  case name: \
    return words;
#include "libraries/common/blas_status.def"
#undef STATUS
  }
  return "unknown status";
}
