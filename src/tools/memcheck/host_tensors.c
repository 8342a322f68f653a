// Tensor maps among the parameters of a launch: what they describe must be inside of an allocation.
// The copies through them are not checked. Each is reported once for a kernel.
#include "tools/memcheck/host.h"

static bool was_said(const SessionKernel *k, const SessionTensorMap *m) {
  static U64Map said;
  static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
  uint64_t key = base_hash((uint64_t[]){k->id, m->address, m->dims[0], m->dims[1]}, 32) | 1;
  pthread_mutex_lock(&lock);
  bool before = u64map_get(&said, key);
  if (!before) u64map_put(&said, key, &said);
  pthread_mutex_unlock(&lock);
  return before;
}

static void check(void *user, const SessionTensorMap *m) {
  const SessionCall *call = user;
  SessionKernel *k = call->launch->kernel;
  uint64_t bytes = session_tensor_bytes(m);
  HeapRange r;
  Str text = {0};
  if (!bytes || !session_ranges_look(m->address, &r)) return;
  uint64_t left = r.memory.base + r.memory.size - m->address;
  if (r.memory.state == WG_MEMORY_LIVE && bytes <= left) return;
  if (was_said(k, m)) return;
  if (r.memory.state == WG_MEMORY_LIVE)
    str_printf(&text,
               "A tensor map of the launch describes %llu bytes, and the allocation ends %llu "
               "bytes before: copies through it may go behind the end",
               (unsigned long long)bytes, (unsigned long long)(bytes - left));
  else
    str_printf(&text, "A tensor map of the launch describes %llu bytes of freed memory",
               (unsigned long long)bytes);
  session_finding(&(SessionFinding){.kind = "api-misuse",
                                    .text = text.data,
                                    .kernel = k,
                                    .launch = call->number,
                                    .has_address = true,
                                    .address = m->address,
                                    .size = bytes > UINT32_MAX ? 0 : (uint32_t)bytes});
  str_free(&text);
}

void tensors_launch(const SessionCall *c) {
  if (c->launch->kernel) session_tensor_maps_of(c, check, (void *)c);
}
