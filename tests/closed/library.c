// Modules and contexts as src/closed sees them, with a library of our own: library FILE.
#include "closed/closed.h"

static void patch(uintptr_t module, uintptr_t context, unsigned sm) {
  Error err = {{0}};
  if (closed_patch((CUmodule)module, (CUcontext)context, sm, &err)) printf("ok\n");
  else printf("no: %s\n", err.text);
}

int main(int argc, char **argv) {
  setvbuf(stdout, NULL, _IONBF, 0);
  const char *cure = NULL;
  closed_start(argv[1]);
  closed_start("ignored");  // the first call counts
  const char *why = closed_refusal(&cure);
  printf("refusal: %s; cure: %s\n", why ? why : "none", cure ? cure : "none");
  patch(0x10, 0x1, 90);
  patch(0x10, 0x1, 90);  // once
  patch(0x20, 0x1, 90);
  patch(0x30, 0x2, 89);  // of the same generation as sm_80
  patch(0x40, 0x3, 10);  // there are no patches for it
  if (why) return 0;
  uint64_t address = 0;
  printf("address: %d", closed_code_address((CUmodule)0x10, "kernel", &address));
  printf(" %llx\n", (unsigned long long)address);
  closed_set_record((CUfunction)0x50, 0x60);
  closed_module_gone((CUmodule)0x10);
  patch(0x10, 0x1, 90);  // another one with the same handle
  closed_context_gone((CUcontext)0x1);
  patch(0x70, 0x1, 90);
}
