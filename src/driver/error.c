// cuGetErrorName, cuGetErrorString.
#include "driver/driver.h"

static const struct {
  CUresult value;
  const char *name, *text;
} errors[] = {
#define ERROR(name, value, text) {name, #name, text},
#include "cuda/errors.def"
};

static CUresult find(CUresult error, const char **out, bool text) {
  if (!out) return CUDA_ERROR_INVALID_VALUE;
  for (size_t i = 0; i < ARRAY_LEN(errors); i++)
    if (errors[i].value == error) {
      *out = text ? errors[i].text : errors[i].name;
      return CUDA_SUCCESS;
    }
  *out = NULL;
  return CUDA_ERROR_INVALID_VALUE;
}

CUresult cuGetErrorName(CUresult error, const char **name) { return find(error, name, false); }
CUresult cuGetErrorString(CUresult error, const char **text) { return find(error, text, true); }
