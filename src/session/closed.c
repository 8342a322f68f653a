// Launches of kernels that are machine code only: what their patches (src/closed) find in the
// launch's record.
#include "session/internal.h"
#include "tools/tool.h"

static unsigned patching_tools(void) {
  unsigned tools = 0;
  EACH_RUNNING_TOOL(t, tool)
    if (tool->patches) tools |= 1u << t;
  return tools & session_tools();
}

bool session_checks_closed(void) { return session_options()->closed && patching_tools() != 0; }

const char *session_closed_library(void) { return session_options()->closed_library; }

static void add_tool_names(Str *out, unsigned tools) {
  for (unsigned t = 0; t < TOOL_COUNT_; t++)
    if (tools >> t & 1) str_printf(out, "%s%s", out->len ? "," : "", tool_name((ToolId)t));
}

// Its places are parts of its code: nothing is known of them but the kernel.
static void add_places(SessionKernel *k) {
  Woven w = {.nsites = WG_CLOSED_SITES};
  w.sites = ARENA_ARRAY(&w.arena, Site, w.nsites);
  for (uint32_t i = 0; i < w.nsites; i++)
    w.sites[i] = (Site){.kernel = UINT32_MAX, .function = k->name, .space = SPACE_GLOBAL};
  k->closed_sites = session_add_piece(k->module, &w)->site_base;
}

void session_closed_kernel(SessionKernel *k) {
  Str tools = {0};
  add_tool_names(&tools, patching_tools());
  pthread_mutex_lock(&session_lock);
  if (!k->patched_by) {
    add_places(k);
    k->patched_by = mem_strdup(tools.data);
    if (k->sent == session_generation())
      session_send(EVENT_PATCHED, &(EventPatched){k->id, k->patched_by});
  }
  pthread_mutex_unlock(&session_lock);
  str_free(&tools);
}

// --- windows: the allocations that parameters point into ---

// false: it has as many as there can be.
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

// Pointers may be anywhere in a parameter: frameworks pass structs of them.
static void add_windows(WgClosed *c, const uint8_t *at, size_t offset, size_t size) {
  uint64_t word;
  for (size_t i = -offset % sizeof word; i + sizeof word <= size; i += sizeof word) {
    memcpy(&word, at + i, sizeof word);
    if (word >= WG_NULL_PAGE && !add_window(c, word)) return;
  }
}

bool session_closed_record(SessionDevice *d, const SessionCall *call, uint64_t code,
                           WgClosed *out) {
  SessionKernel *k = call->launch->kernel;
  *out = (WgClosed){.code = code,
                    .launch = call->number,
                    .site_base = k->closed_sites,
                    .tools = patching_tools()};
  session_device_closed(d, k, call->launch, out);
  if (!out->channel) return false;
  size_t offset, size;
  for (uint32_t i = 0; call->info && call->info(call->user, i, &offset, &size); i++) {
    const SessionParams *p = call->params;
    if (p->pointers && p->pointers[i]) add_windows(out, p->pointers[i], offset, size);
    else if (p->buffer && offset + size <= p->buffer_bytes)
      add_windows(out, (const uint8_t *)p->buffer + offset, offset, size);
  }
  return true;
}

void session_closed_checked(SessionKernel *k) {
  atomic_fetch_add_explicit(&channel_kernel_counts(k->id)->checked, 1, memory_order_relaxed);
}
