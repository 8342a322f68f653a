// Stands for NVIDIA's libsanitizer-public.so: writes down what it is asked for.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static const char *fails(void) { return getenv("FAKE_FAILS") ? getenv("FAKE_FAILS") : ""; }
static int answer(char what) {
  for (const char *p = fails(); *p; p++)
    if (*p == what) return 6;
  return 0;
}

int sanitizerSubscribe(void **subscriber, void *callback, void *user) {
  printf("subscribe\n");
  return answer('s');
}
int sanitizerAddPatches(const void *image, void *context) {
  printf("patches for context %p: %s\n", context, image ? "image" : "none");
  return answer('a');
}
int sanitizerPatchInstructions(uint32_t instruction, void *module, const char *function) {
  printf("module %p: %u calls %s\n", module, instruction, function);
  return answer(instruction > 29 ? 'n' : 'i');
}
int sanitizerPatchModule(void *module) {
  printf("module %p patched\n", module);
  return answer('m');
}
int sanitizerSetCallbackData(void *kernel, const void *data) {
  printf("kernel %p: record %p\n", kernel, data);
  return 0;
}
int sanitizerGetFunctionPcAndSize(void *module, const char *name, uint64_t *pc, uint64_t *size) {
  *pc = 0x1000;
  *size = 64;
  return answer('p');
}
