// Names and texts of the error codes of OpenCL.
#include "opencl_layer/layer.h"

static const struct {
  cl_int error;
  const char *text;
} table[] = {
#define OPENCL_ERROR(name, text) {name, #name ": " text},
#include "opencl_layer/errors.def"
};

const char *layer_error_text(cl_int error) {
  for (size_t i = 0; i < ARRAY_LEN(table); i++)
    if (table[i].error == error) return table[i].text;
  return NULL;
}
