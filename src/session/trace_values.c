// --record: which values of loads are left out, since what was recorded before gives them: of memory that the launch does not write, and whose
// contents are known.
#include "session/trace.h"

static _Atomic bool unknown;               // something that is not recorded has run: contents may be other than they seem

void session_trace_unknown(void) { atomic_store_explicit(&unknown, true, memory_order_relaxed); }

// Memory that only copies, sets and kernels write.
static bool is_followed(const HeapRange *r) {
  return r->memory.state == WG_MEMORY_LIVE && (r->kind == SESSION_DEVICE || r->kind == SESSION_POOL);
}

uint32_t session_trace_values(const InstrumentedKernel *code, const SessionParams *params) {
  uint64_t pointer, written[64];
  uint32_t nwritten = 0, values = 0;
  HeapRange r;
  if (atomic_load_explicit(&unknown, memory_order_relaxed) || session_launch_captured() || !code->writes_known || code->writes_elsewhere || code->nwrites > ARRAY_LEN(written)) return UINT32_MAX;
  for (uint32_t i = 0; i < code->nwrites; i++) {
    if (!session_fact_pointer(&code->writes[i].pointer, params, &pointer) || !session_ranges_look(pointer, &r) || r.memory.state != WG_MEMORY_LIVE) return UINT32_MAX;
    written[nwritten++] = r.memory.base;
  }
  for (uint32_t i = 0; i < code->ntrace_reads; i++) {
    bool constant = session_fact_pointer(&code->trace_reads[i], params, &pointer) && session_ranges_look(pointer, &r) && is_followed(&r);
    for (uint32_t k = 0; k < nwritten && constant; k++) constant = written[k] != r.memory.base;
    if (!constant) values |= 1u << i;
  }
  return values;
}
