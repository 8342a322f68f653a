// Gives a launch the shadows of the memory that its parameters point to, and keeps track of the
// memory that the launch may write.
#include "tools/initcheck/host.h"

// Most bytes of shadow for the shared memory of one launch; the blocks beyond are not checked.
enum { MOST_SHARED_SHADOW = 64 << 20 };

// SessionRun.tool_data[TOOL_INITCHECK] between begin and end
enum { RUN_UNSEEN, RUN_MARKS_ALL, RUN_HEAP_UNSEEN };

const InitKernel *init_kernel(const WovenKernel *code) {
  static const InitKernel none;
  return code->tool_data[TOOL_INITCHECK] ? code->tool_data[TOOL_INITCHECK] : &none;
}

bool init_follows(SessionKernel *k) {
  const WovenKernel *code = session_kernel_code(k);
  return code && code->instrumented && !init_kernel(code)->unfollowed;
}

// Kernels in graphs of a GPU have no table of allocations.
bool init_sees_graph_writes(SessionKernel *k) {
  return init_follows(k) && !init_kernel(session_kernel_code(k))->stores_anywhere;
}

static void note_unfollowed(SessionKernel *k, const char *why) {
  static char said;
  if (atomic_exchange(&k->tool_data[TOOL_INITCHECK], &said)) return;
  Str text = {0};
  str_printf(&text, "initcheck does not follow it: %s", why);
  session_kernel_note(k, text.data);
  str_free(&text);
}

bool init_launch(ToolDevice *d, ToolLaunch *l) {
  const InitKernel *k = init_kernel(session_kernel_code(l->kernel));
  if (k->unfollowed) note_unfollowed(l->kernel, k->unfollowed);
  return true;
}

void init_before_table(ToolDevice *d, SessionKernel *k, const SessionLaunch *shape) {
  if (init_follows(k) && k->piece->code.uses_heap) shadow_heap_make(d->device);
}

// --- facts ---

// A pointer that lies in no known allocation may point to the device's heap. Heap memory has no
// facts, so stores through the pointer are not marked.
static bool may_write_heap(const WovenKernel *code, const SessionParams *params) {
  for (uint32_t i = 0; i < code->nfacts; i++) {
    const WeaveFact *f = &code->facts[i];
    uint64_t pointer;
    WgMemoryRange known;
    if (f->kind == FACT_SHADOW && !f->read_only && session_fact_pointer(f, params, &pointer) &&
        pointer && !session_ranges_find(pointer, &known))
      return true;
  }
  return false;
}

// A pointer to the end of an allocation belongs to it. NULL: it points to memory without a shadow
static Shadow *pointed_to(const WeaveFact *f, const SessionParams *params) {
  uint64_t pointer;
  if (f->kind != FACT_SHADOW || !session_fact_pointer(f, params, &pointer) || !pointer) return NULL;
  Shadow *s = shadow_find(pointer);
  if (!s) {
    s = shadow_find(pointer - 1);
    if (s && s->base + s->size != pointer) s = NULL;
  }
  return s && s->address ? s : NULL;
}

// Kernels may have filled the allocation meanwhile: where the shadow can be read directly, it is
// scanned, beginning with the word that was bad the last time.
static bool is_whole(Shadow *s) {
  void *user;
  if (s->whole || s->graph_writes || !session_device_ops(s->device, &user)->direct) return s->whole;
  const uint8_t *bits = (const uint8_t *)(uintptr_t)s->address;
  uint64_t word = s->bad_at / 4 * 4;
  if (s->bad_at && shadow_first_bad(&bits[word / 4], MIN(s->size - word, 4u)) == 0) return false;
  s->bad_at = shadow_first_bad(bits, s->size);
  if (s->bad_at == s->size) {
    s->bad_at = 0;
    shadow_covered(s, 0, s->size);
  }
  return s->whole;
}

static bool reads_good(const WovenKernel *code, const SessionParams *params) {
  for (uint32_t i = 0; i < code->nfacts; i++) {
    Shadow *s = code->facts[i].is_read ? pointed_to(&code->facts[i], params) : NULL;
    if (s && !is_whole(s)) return false;
  }
  return true;
}

// The launch may store bad values: the allocations that it may write to are not whole any more.
static void expect_stores(const WovenKernel *code, const SessionParams *params, bool in_graph) {
  for (Shadow *s = init_kernel(code)->stores_anywhere ? shadow_next(NULL) : NULL; s;
       s = shadow_next(s))
    if (s->address) shadow_kernel_writes(s, in_graph);
  for (uint32_t i = 0; i < code->nfacts; i++) {
    Shadow *s = code->facts[i].read_only ? NULL : pointed_to(&code->facts[i], params);
    if (s) shadow_kernel_writes(s, in_graph);
  }
}

// Fills every FACT_SHADOW. true: stores to the device's heap are not seen (WG_LAUNCH_HEAP_UNSEEN)
static bool fill_facts(const WovenKernel *code, const SessionParams *params, bool in_graph,
                       void *record) {
  bool heap = (in_graph || shadow_has_heap()) && may_write_heap(code, params);
  if (heap && in_graph) shadow_heap_lose();
  shadow_lock();
  if (in_graph) shadow_graphs_use();
  if (in_graph || !init_kernel(code)->good_if_reads_good || !reads_good(code, params))
    expect_stores(code, params, in_graph);
  for (uint32_t i = 0; i < code->nfacts; i++) {
    uint64_t fact[3] = {0};
    if (code->facts[i].kind != FACT_SHADOW) continue;
    const Shadow *s = pointed_to(&code->facts[i], params);
    if (s && (in_graph || !s->whole))
      memcpy(fact, (uint64_t[]){s->base, s->size, s->address}, sizeof fact);
    memcpy((char *)record + code->facts[i].record_offset, fact, sizeof fact);
  }
  shadow_unlock();
  return heap;
}

// On the virtual device facts are filled when the launch begins (init_launch_begins). On a GPU a
// graph is seen as a whole: its kernels keep what they were captured with.
void init_facts(ToolDevice *d, ToolLaunch *l) {
  bool captured = !l->refreshed && session_launch_captured();
  if (!captured && (!l->refreshed || d->ops->direct))
    l->record->init_memory = init_follows(l->kernel) ? l->record->memory : 0;
  if (!d->ops->direct && !l->refreshed &&
      fill_facts(session_kernel_code(l->kernel), l->params, captured, l->whole_record))
    l->record->flags |= WG_LAUNCH_HEAP_UNSEEN;
}

// --- the launch begins and ends ---

static void refresh_facts(const WovenKernel *code, const SessionParams *params, void *record) {
  WgLaunch r;
  memcpy(&r, record, sizeof r);
  r.flags &= ~(uint32_t)WG_LAUNCH_HEAP_UNSEEN;
  if (fill_facts(code, params, false, record)) r.flags |= WG_LAUNCH_HEAP_UNSEEN;
  memcpy(record, &r, sizeof r);
}

static uint64_t how_it_writes(SessionKernel *k, const void *record) {
  WgLaunch r;
  memcpy(&r, record, sizeof r);
  bool marks = init_follows(k) && r.launch &&
               (r.init_memory || !init_kernel(session_kernel_code(k))->stores_anywhere);
  if (!marks) return RUN_UNSEEN;
  return r.flags & WG_LAUNCH_HEAP_UNSEEN ? RUN_HEAP_UNSEEN : RUN_MARKS_ALL;
}

// Shadow for the shared memory of the launch; each block clears its part when it begins.
static void add_shared_shadow(SessionRun *run, const WovenKernel *code) {
  const SessionLaunch *l = run->shape;
  uint64_t blocks = (uint64_t)l->grid[0] * l->grid[1] * l->grid[2];
  uint32_t bytes = run->shared;
  WgLaunch r;
  if (!bytes || !blocks || !code->instrumented) return;
  bytes += 1024;  // from sm_90 on the system reserves the first bytes of a block's shared memory
  memcpy(&r, run->record, sizeof r);
  r.shared_stride = (((bytes + 3) / 4) + 15) & ~15u;
  r.shared_blocks = (uint32_t)MIN(blocks, (uint64_t)MOST_SHARED_SHADOW / r.shared_stride);
  size_t need = (size_t)r.shared_stride * r.shared_blocks;
  r.shared_shadow = need ? run->scratch(run, need) : 0;
  if (r.shared_shadow) memcpy(run->record, &r, sizeof r);
}

// A launch in a graph may run at the same time as others of the graph: on a GPU it gets no shadow
// for its shared memory, which counts as initialised.
void init_launch_begins(SessionDevice *d, const void *stream, SessionRun *r) {
  const WovenKernel *code = r->record ? session_kernel_code(r->kernel) : NULL;
  bool direct = !d;
  uint64_t *how = &r->tool_data[TOOL_INITCHECK];
  if (!code) return;
  if (direct && init_follows(r->kernel)) refresh_facts(code, r->params, r->record);
  *how = how_it_writes(r->kernel, r->record);
  // captured: fill_facts has given up the heap for good
  if (*how == RUN_MARKS_ALL || (*how == RUN_HEAP_UNSEEN && !direct && r->shape->captured))
    r->settled |= TOOL_BIT(INITCHECK);
  if (!direct && (r->shape->captured || *how == RUN_UNSEEN)) return;
  if (!direct) all_initialised_ask(session_tool_device(d, TOOL_INITCHECK), stream, r);
  add_shared_shadow(r, code);
}

void init_launch_ends(SessionDevice *d, const void *stream, SessionRun *r) {
  uint64_t how = r->tool_data[TOOL_INITCHECK];
  if (how == RUN_UNSEEN) shadow_unchecked_writes(d, stream);
  if (how != RUN_HEAP_UNSEEN) return;
  shadow_lock();
  shadow_heap_forget(d, stream);
  shadow_unlock();
}
