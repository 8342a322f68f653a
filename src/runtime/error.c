// Errors: the last one of each thread, names and texts.
#include "runtime/internal.h"
#include "session/session.h"

static _Thread_local cudaError_t last_error;

// Errors after which the device context is lost: they stay until cudaDeviceReset.
static bool is_sticky(cudaError_t e) {
  return e == cudaErrorIllegalAddress || e == cudaErrorLaunchTimeout ||
         (e >= cudaErrorHardwareStackError && e <= cudaErrorLaunchFailure) ||
         e == cudaErrorAssert || e == cudaErrorECCUncorrectable;
}

cudaError_t rt_return(cudaError_t e) {
  if (e) last_error = e;
  return e;
}

void rt_clear_errors(void) { last_error = cudaSuccess; }

// The runtime that tests build uses only exported driver functions: it has no session.
static void seen(void) {
#ifdef WARPGRIND_LIBRARY
  session_errors_seen();
#endif
}

cudaError_t cudaGetLastError(void) {
  cudaError_t e = last_error;
  seen();
  if (!is_sticky(e)) last_error = cudaSuccess;
  return e;
}

cudaError_t cudaPeekAtLastError(void) {
  seen();
  return last_error;
}

static const struct {
  const char *name, *text;
  int value;
} errors[] = {
#define ERROR(name, value, text) {#name, text, value},
#include "runtime/errors.def"
#undef ERROR
};

const char *cudaGetErrorName(cudaError_t e) {
  for (size_t i = 0; i < ARRAY_LEN(errors); i++)
    if (errors[i].value == (int)e) return errors[i].name;
  return "unrecognized error code";
}

const char *cudaGetErrorString(cudaError_t e) {
  for (size_t i = 0; i < ARRAY_LEN(errors); i++)
    if (errors[i].value == (int)e) return errors[i].text;
  return "unrecognized error code";
}

cudaError_t rt_return_to_stub(cudaError_t e) {
#ifdef WARPGRIND_LIBRARY
  if (e && !is_sticky(e)) {
    char text[256];
    snprintf(text, sizeof text,
             "the launch failed with %s (%s) and the program never checked: no cudaGetLastError or "
             "cudaPeekAtLastError follows on this thread",
             cudaGetErrorName(e), cudaGetErrorString(e));
    session_error_raised(text);
  }
#endif
  return rt_return(e);
}
