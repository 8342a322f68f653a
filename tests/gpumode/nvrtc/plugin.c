// A library with a compiler of its own, opened by a program that knows nothing of it. Prints what
// it gets as machine code.
#include <nvrtc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int compile(void) {
  const char *option = "-arch=sm_90";
  nvrtcProgram program;
  size_t size;
  if (nvrtcCreateProgram(&program, "__global__ void k(int *p) { *p = 1; }", "k.cu", 0, NULL, NULL))
    return 2;
  if (nvrtcCompileProgram(program, 1, &option)) return 3;
  if (nvrtcGetCUBINSize(program, &size)) return 4;
  char *code = malloc(size);
  if (nvrtcGetCUBIN(program, code)) return 5;
  puts(!memcmp(code, "\177ELF", 4)     ? "machine code"
       : strstr(code, ".target sm_90") ? "PTX"
                                       : "something else");
  return nvrtcDestroyProgram(&program) ? 6 : 0;
}
