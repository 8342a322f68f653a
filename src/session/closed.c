// Launches of kernels that are machine code only: fills the launch record that their patches
// (src/closed) read, and calls tools that read memory before and after the launch instead.
#include "session/internal.h"
#include "tools/tool.h"

static unsigned patching_tools(void) {
  unsigned tools = 0;
  EACH_RUNNING_TOOL(t, tool)
    if (tool->patches) tools |= 1u << t;
  return tools & session_tools();
}

static unsigned reading_tools(void) {
  unsigned tools = 0;
  EACH_RUNNING_TOOL(t, tool)
    if (tool->refuses_closed) tools |= 1u << t;
  return tools & session_tools();
}

bool session_patches_closed(void) { return session_options()->closed && patching_tools() != 0; }
bool session_repeats_closed(void) {
  return session_patches_closed() && session_options()->closed_repeats;
}
bool session_reads_closed(void) { return session_options()->closed && reading_tools() != 0; }

const char *session_closed_library(void) { return session_options()->closed_library; }

static unsigned tools_that_only_compare(void) {
  unsigned tools = 0;
  EACH_RUNNING_TOOL(t, tool)
    if (tool->only_compares_closed) tools |= 1u << t;
  return tools;
}

static void add_tool_names(Str *out, unsigned tools) {
  for (unsigned t = 0; t < TOOL_COUNT_; t++)
    if (tools >> t & 1) str_printf(out, "%s%s", out->len ? "," : "", tool_name((ToolId)t));
}

// Adds sites for parts of the kernel's code, of which only the kernel is known. Further sites stand
// for the formats of its stores.
static void add_places(SessionKernel *k) {
  Woven w = {.nsites = WG_CLOSED_SITES + WG_CLOSED_FORMATS};
  w.sites = ARENA_ARRAY(&w.arena, Site, w.nsites);
  for (uint32_t i = 0; i < w.nsites; i++)
    w.sites[i] = (Site){.kernel = UINT32_MAX,
                        .function = k->name,
                        .space = SPACE_GLOBAL,
                        .detail = i < WG_CLOSED_SITES ? 0 : i - WG_CLOSED_SITES};
  k->closed_sites = session_add_piece(k->module, &w)->site_base;
}

static unsigned tools_that_read(SessionKernel *k, const SassStores *stores, Error *why) {
  unsigned tools = 0;
  EACH_RUNNING_TOOL(t, tool) {
    if (!stores || !tool->refuses_closed) continue;
    const char *reason = tool->refuses_closed(k, stores);
    if (reason) error_set(why, "%s", reason);
    else tools |= 1u << t;
  }
  return tools;
}

bool session_closed_kernel(SessionKernel *k, const SessionClosedKernel *what, Error *why) {
  Str names = {0};
  unsigned tools = what->patched ? patching_tools() : 0;
  tools |= tools_that_read(k, what->stores, why);
  tools &= session_tools();
  if (!tools) return false;
  add_tool_names(&names, tools & ~tools_that_only_compare());
  if (!names.len)
    error_set(why, "its code has no PTX: the buffers it gets are compared with those of other "
                   "launches and copies; what it does inside is not checked");
  pthread_mutex_lock(&session_lock);
  if (!k->patched_by) {
    add_places(k);
    k->closed_tools = tools;
    k->patched_by = mem_strdup(names.len ? names.data : "");
    if (k->sent == session_generation())
      session_send(EVENT_PATCHED, &(EventPatched){k->id, k->patched_by});
  }
  pthread_mutex_unlock(&session_lock);
  str_free(&names);
  return true;
}

bool session_closed_selected(SessionKernel *k) {
  uint64_t n = atomic_fetch_add_explicit(&k->closed_launches, 1, memory_order_relaxed);
  return n % session_options()->closed_every == 0 && session_launch_selected(k);
}

// --- windows: the allocations that parameters point into ---

// false: no window is free.
static bool add_window(WgClosed *c, uint64_t pointer) {
  uint32_t n = 0;
  for (; c->windows[n].base; n++)
    if (pointer - c->windows[n].base <= c->windows[n].last) return true;
  if (n == WG_CLOSED_WINDOWS) return false;
  WgMemoryRange r;
  if (session_ranges_find(pointer, &r) && r.size >= WG_CLOSED_WIDEST)
    c->windows[n] = (WgWindow){r.base, r.size - WG_CLOSED_WIDEST};
  return true;
}

// --- parameters ---

void session_each_param(const SessionCall *call, SessionEachParam *each, void *user) {
  size_t offset, size;
  for (uint32_t i = 0; call->info && call->info(call->user, i, &offset, &size); i++) {
    const SessionParams *p = call->params;
    if (p->pointers && p->pointers[i]) each(user, p->pointers[i], offset, size);
    else if (p->buffer && offset + size <= p->buffer_bytes)
      each(user, (const uint8_t *)p->buffer + offset, offset, size);
  }
}

// GPU addresses have 49 bits; words outside their range are numbers.
bool session_may_be_pointer(uint64_t word) { return word >= WG_NULL_PAGE && !(word >> 49); }

// Pointers may be anywhere in a parameter: frameworks pass structs of them.
static void add_windows(void *user, const uint8_t *at, size_t offset, size_t size) {
  uint64_t word;
  for (size_t i = -offset % sizeof word; i + sizeof word <= size; i += sizeof word) {
    memcpy(&word, at + i, sizeof word);
    if (session_may_be_pointer(word) && !add_window(user, word)) return;
  }
}

// The parameters have been searched already if there is a SessionClosedLaunch.
static void find_windows(const SessionCall *call, const SessionClosedLaunch *l, WgClosed *out) {
  if (!l) session_each_param(call, add_windows, out);
  for (uint32_t i = 0; l && i < l->pointers.len; i++)
    if (!add_window(out, l->pointers.data[i].base)) return;
}

bool session_closed_record(SessionDevice *d, const SessionCall *call, const SessionClosedLaunch *l,
                           uint64_t code, WgClosed *out) {
  SessionKernel *k = call->launch->kernel;
  *out = (WgClosed){.code = code,
                    .launch = call->number,
                    .site_base = k->closed_sites,
                    .tools = patching_tools()};
  session_device_closed(d, k, call->launch, out);
  if (!out->channel) return false;
  find_windows(call, l, out);
  return true;
}

// --- tools that look at memory around the launch ---

static void add_pointer(SessionClosedLaunch *l, uint32_t param, uint64_t address,
                        const SessionTensorMap *map) {
  HeapRange r;
  if (!session_ranges_look(address, &r) || r.memory.state != WG_MEMORY_LIVE) return;
  bool steady = r.kind == SESSION_DEVICE || r.kind == SESSION_POOL || r.kind == SESSION_GRAPH ||
                r.kind == SESSION_VARIABLE;
  vec_push(&l->pointers,
           ((SessionClosedPointer){.param = param,
                                   .address = address,
                                   .base = r.memory.base,
                                   .size = r.memory.size,
                                   .steady = steady,
                                   .tensor = map ? session_tensor_format(map) : SASS_OTHER,
                                   .is_map = map != NULL}));
}

static void add_pointers(void *user, const uint8_t *at, size_t offset, size_t size) {
  SessionClosedLaunch *l = user;
  l->last_bytes = size;
  memcpy(l->last, at, MIN(size, sizeof l->last));
  uint64_t word;
  SessionTensorMap map;
  for (size_t i = -offset % sizeof word; i + sizeof word <= size; i += sizeof word) {
    memcpy(&word, at + i, sizeof word);
    if (session_may_be_pointer(word)) add_pointer(l, (uint32_t)(offset + i), word, NULL);
    if ((offset + i) % WG_TENSOR_MAP_ALIGNMENT == 0 && i + WG_TENSOR_MAP_BYTES <= size &&
        session_tensor_map_find(at + i, &map))
      add_pointer(l, (uint32_t)(offset + i), map.address, &map);
  }
}

// Libraries encode tensor maps themselves, in an undocumented format.
static void name_unknown_maps(const SessionClosedLaunch *l) {
  bool known = !l->stores->through_tensor;
  for (uint32_t i = 0; i < l->pointers.len; i++) known |= l->pointers.data[i].is_map;
  if (!known && !atomic_exchange(&l->kernel->maps_named, true))
    session_kernel_note(l->kernel,
                        "it stores through tensor maps that were not made by a call of the driver: "
                        "what they describe is not checked");
}

SessionClosedLaunch *session_closed_begins(SessionDevice *d, const SessionCall *call,
                                           const SassStores *stores) {
  SessionKernel *k = call->launch->kernel;
  SessionClosedLaunch *l = NULL;
  EACH_RUNNING_TOOL(t, tool) {
    if (!tool->closed_begins || !(k->closed_tools >> t & 1)) continue;
    if (!l) {
      session_device_open_reports(d);
      l = mem_alloc(sizeof *l);
      *l = (SessionClosedLaunch){
          .kernel = k, .number = call->number, .stream = call->launch->stream, .stores = stores};
      session_each_param(call, add_pointers, l);
      name_unknown_maps(l);
    }
    tool->closed_begins(session_tool_device(d, (ToolId)t), l);
  }
  return l;
}

void session_closed_ends(SessionDevice *d, SessionClosedLaunch *l, bool launched) {
  EACH_RUNNING_TOOL(t, tool)
    if (d && launched && tool->closed_ends && l->kernel->closed_tools >> t & 1)
      tool->closed_ends(session_tool_device(d, (ToolId)t), l);
  vec_free(&l->pointers);
  free(l);
}

unsigned session_closed_settles(const SessionClosedLaunch *l) {
  unsigned tools = 0;
  EACH_RUNNING_TOOL(t, tool)
    if (tool->closed_ends && l->kernel->closed_tools >> t & 1) tools |= 1u << t;
  return tools;
}

void session_launch_unseen(void) {
  EACH_RUNNING_TOOL(t, tool)
    if (tool->launch_unseen) tool->launch_unseen();
}

void session_contents_kept(uint64_t base) {
  EACH_RUNNING_TOOL(t, tool)
    if (tool->contents_kept) tool->contents_kept(base);
}

void session_closed_checked(SessionKernel *k) {
  atomic_fetch_add_explicit(&channel_kernel_counts(k->id)->checked, 1, memory_order_relaxed);
}
