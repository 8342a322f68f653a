// Answers of clGet…Info functions.
#include "opencl/opencl.h"

cl_int ocl_answer(OclAnswer to, const void *data, size_t n) {
  if (to.needed) *to.needed = n;
  if (!to.value) return CL_SUCCESS;
  if (to.room < n) return CL_INVALID_VALUE;
  if (n) memcpy(to.value, data, n);
  return CL_SUCCESS;
}

cl_int ocl_answer_text(OclAnswer to, const char *text) {
  if (!text) text = "";
  return ocl_answer(to, text, strlen(text) + 1);
}
