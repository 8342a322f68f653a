// Calls back when the program opens a library, after it is mapped and before its constructors run
// (they register its kernels). At that point the dynamic loader calls an empty function, meant for
// debuggers; we put a jump into it.
#define _GNU_SOURCE
#include <link.h>
#include "runtime/internal.h"

static void (*notify)(void);

static void loader_changed(void) {
  if (_r_debug.r_state == RT_CONSISTENT && notify) notify();
}

bool rt_watch_loader(void (*changed)(void)) {
  uint8_t *hook = (uint8_t *)(uintptr_t)_r_debug.r_brk;
  if (!hook || !patch_is_empty_function(hook)) return false;
  uint8_t *island = patch_alloc_near(hook, hook + patch_near_bytes, patch_far_bytes);
  if (!island) return false;
  patch_far_jump(island, (const void *)(uintptr_t)loader_changed);
  patch_make_executable(island, patch_far_bytes);
  if (!patch_make_writable(hook, patch_near_bytes)) return false;
  notify = changed;
  patch_near_jump(hook, island);
  patch_make_executable(hook, patch_near_bytes);
  return true;
}
