// Kernel parameters of two chars: clang (19) reads a <2 x i8> parameter as two 16-bit numbers. In
// LLVM assembly it becomes a 16-bit number, which the kernel stores where it would have stored the
// vector: before optimization a parameter is stored, and used nowhere else.
#define _GNU_SOURCE

#include "opencl/opencl.h"

#include <ctype.h>

static const char vector[] = "<2 x i8>", number[] = "i16     ";  // equally long

// In the body, ` <2 x i8> %7,` becomes ` i16 %7,`.
static void change_uses(char *body, const char *end, const char *name, size_t len) {
  for (char *p = body; (p = memmem(p, (size_t)(end - p), vector, sizeof vector - 1));) {
    char *type = p;
    p += sizeof vector - 1;
    bool is_use = *p == ' ' && !strncmp(p + 1, name, len) && !isalnum((unsigned char)p[1 + len]);
    if (is_use) memcpy(type, number, sizeof number - 1);
  }
}

// Does another kernel call this one? It passes a vector, so the parameter must stay one.
static bool is_called(const char *assembly, const char *line, const char *end) {
  const char *at = memchr(line, '@', (size_t)(end - line));
  size_t n = at ? strcspn(at, "(") + 1 : 0;
  for (const char *p = assembly; at && (p = memmem(p, strlen(p), at, n)); p += n)
    if (p != at) return true;
  return !at;
}

static void change_kernel(const char *assembly, char *line, char *end) {
  char *body_end = strstr(end, "\n}");
  if (!body_end || is_called(assembly, line, end)) return;
  for (char *p = line; (p = memmem(p, (size_t)(end - p), vector, sizeof vector - 1));) {
    char *type = p, *name = p + strcspn(p, "%,)\n");
    p += sizeof vector - 1;
    if (*name != '%') continue;
    size_t len = 1;
    while (isalnum((unsigned char)name[len]) || name[len] == '.' || name[len] == '_') len++;
    memcpy(type, number, sizeof number - 1);
    change_uses(end, body_end, name, len);
  }
}

void ocl_fit_char2_parameters(char *assembly) {
  for (char *line = assembly; *line;) {
    char *end = strchrnul(line, '\n');
    size_t len = (size_t)(end - line);
    bool kernel = !strncmp(line, "define ", 7) &&
                  (memmem(line, len, " spir_kernel ", 13) || memmem(line, len, " ptx_kernel ", 12));
    if (kernel && memmem(line, len, vector, sizeof vector - 1)) change_kernel(assembly, line, end);
    line = end + (*end == '\n');
  }
}
