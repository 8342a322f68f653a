// --record=inputs: which memory may have changed before a launch.
//
// Each allocation has a range that may differ from its kept contents. Copies, sets and launches
// widen it when the program asks for them. Before a launch, the ranges whose writers come before it
// are searched. In these, pages are kept if their hash differs from that of the contents kept last.
// Memory that no copy, set or launch has written holds nothing that a program may rely on.
//
// Launches write more than a bus can carry. Memory written by launches with reproducible results is
// kept only now and then, as --inputs-rate allows: `expand` recomputes the rest by re-running the
// launches between two that were kept whole.
//
// The bytes that a copy from the host or a set writes are known when it is made, so the device need
// not search for them (record_inputs_reads_source).
#include "tools/record/host.h"

#include "session/written_buffers.h"

// --- what may have changed ---

enum { WRITERS = 8 };  // streams whose last write to an allocation is remembered

typedef struct Dirty {
  uint64_t order, base, size;
  SessionSpan recomputable;  // written by launches that can be re-run, and not kept since
  SessionSpan other;         // written by anything else, and not kept since
  // kept from copies of the host since the device last searched for changes
  SessionSpan from_host;
  SessionSpan stale;  // written since the host kept it
  int device;
  SessionMemoryKind kind;
  SessionMoment writers[WRITERS];  // the last write of each stream
  uint32_t nwriters;
  bool unordered;  // some writer's order is not known, or more than WRITERS streams wrote
} Dirty;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;  // taken before session_lock
static VEC(Dirty) dirty;
static U64Map dirty_at;  // base -> index plus 1

static bool is_kept(SessionMemoryKind kind) {
  switch (kind) {
    case SESSION_DEVICE:
    case SESSION_POOL:
    case SESSION_VARIABLE:
    case SESSION_VIRTUAL:
    case SESSION_GRAPH: return true;
    default: return false;  // the host writes there too: always searched
  }
}

static Dirty *dirty_of(const HeapRange *r) {
  uintptr_t i = (uintptr_t)u64map_get(&dirty_at, r->memory.base);
  Dirty *d = i ? &dirty.data[i - 1] : NULL;
  if (!d) {
    vec_push(&dirty, (Dirty){0});
    d = &dirty.data[dirty.len - 1];
    u64map_put(&dirty_at, r->memory.base, (void *)(uintptr_t)dirty.len);
  }
  if (d->order != r->order || !d->size)
    *d = (Dirty){.order = r->order,
                 .base = r->memory.base,
                 .size = r->memory.size,
                 .kind = r->kind,
                 .device = r->device};
  return d;
}

static void add_writer(Dirty *d, const SessionMoment *m) {
  if (!m) {
    d->unordered = true;
    return;
  }
  for (uint32_t i = 0; i < d->nwriters; i++)
    if (d->writers[i].slot == m->slot) {
      d->writers[i].index = MAX(d->writers[i].index, m->index);
      return;
    }
  if (d->nwriters == WRITERS) d->unordered = true;
  else d->writers[d->nwriters++] = *m;
}

static SessionSpan joined(SessionSpan a, SessionSpan b) {
  return !a.to ? b : !b.to ? a : (SessionSpan){MIN(a.from, b.from), MAX(a.to, b.to)};
}

// moment NULL: the order of the write is not known. recomputable: re-running the launch writes the
// same bytes.
typedef struct Writer {
  const SessionMoment *moment;
  bool recomputable;
} Writer;

// Marks [from, to) of the allocation at `address` as written; to 0: all of it.
static void mark(uint64_t address, uint64_t from, uint64_t to, Writer w) {
  HeapRange r;
  if (!session_ranges_look(address, &r) || r.memory.state != WG_MEMORY_LIVE || !is_kept(r.kind) ||
      !r.memory.size)
    return;
  uint64_t base = r.memory.base, end = base + r.memory.size;
  from = to ? MIN(MAX(from, base), end) - base : 0;
  to = to ? MAX(MIN(to, end), base) - base : r.memory.size;
  if (from >= to) return;
  Dirty *d = dirty_of(&r);
  SessionSpan *span = w.recomputable ? &d->recomputable : &d->other;
  *span = joined(*span, (SessionSpan){from, to});
  d->stale = joined(d->stale, (SessionSpan){from, to});
  add_writer(d, w.moment);
}

typedef struct Bases {
  VEC(uint64_t) list;
} Bases;
static void add_base(void *user, const HeapRange *r) {
  Bases *b = user;
  if (r->memory.state == WG_MEMORY_LIVE && is_kept(r->kind)) vec_push(&b->list, r->memory.base);
}

static void mark_all(Writer w) {
  Bases b = {0};
  session_ranges_each(add_base, &b);
  for (uint32_t i = 0; i < b.list.len; i++) mark(b.list.data[i], 0, 0, w);
  vec_free(&b.list);
}

static void mark_written(SessionKernel *k, const SessionParams *params, Writer writer) {
  const WovenKernel *code = session_kernel_code(k);
  if (!code || !code->writes_known || code->writes_elsewhere) {
    mark_all(writer);
    return;
  }
  for (uint32_t i = 0; i < code->nwrites; i++) {
    const WeaveWrite *w = &code->writes[i];
    uint64_t pointer, from = 0, to = 0;
    if (!session_fact_pointer(&w->pointer, params, &pointer) || !pointer) continue;
    if (!session_reach(code, w, params, session_launched(), &from, &to)) from = to = 0;
    mark(pointer, from, to, writer);
  }
  for (uint32_t i = 0; i < code->nwritten_variables; i++) {
    uint64_t base = session_outputs_variable_at(code->written_variables[i].name);
    if (base) mark(base, 0, 0, writer);
  }
}

void record_inputs_copy_asked(const SessionCopy *c) {
  if (!record_options.inputs || c->captured || c->on_host || c->to.kind == SESSION_PLACE_HOST ||
      c->to.kind == SESSION_PLACE_ARRAY || !c->width || !c->height || !c->depth)
    return;
  uint64_t pitch = c->to.pitch ? c->to.pitch : c->width, rows = c->to.rows ? c->to.rows : c->height;
  uint64_t first = c->to.address + (c->to.z * rows + c->to.y) * pitch + c->to.x;
  SessionMoment moment;
  pthread_mutex_lock(&lock);
  bool known = session_order_now(c->stream, &moment);
  mark(first, first, first + pitch * (rows * (c->depth - 1) + c->height - 1) + c->width,
       (Writer){known ? &moment : NULL, false});
  pthread_mutex_unlock(&lock);
}

void record_unknown_writes(const void *stream) {
  SessionMoment moment;
  if (!record_options.inputs) return;
  pthread_mutex_lock(&lock);
  bool known = session_order_step(stream, &moment);
  mark_all((Writer){known ? &moment : NULL, false});
  pthread_mutex_unlock(&lock);
}

// --- copies from the host, and sets ---

// Finds the part that a copy writes. false: it is not in one allocation that is kept.
static bool goes_to(const SessionCopy *c, HeapRange *r, SessionSpan *span) {
  uint64_t pitch = c->to.pitch ? c->to.pitch : c->width, rows = c->to.rows ? c->to.rows : c->height;
  uint64_t first = c->to.address + (c->to.z * rows + c->to.y) * pitch + c->to.x,
           n = pitch * (rows * (c->depth - 1) + c->height - 1) + c->width;
  if (c->to.kind == SESSION_PLACE_HOST || c->to.kind == SESSION_PLACE_ARRAY ||
      !session_ranges_look(first, r))
    return false;
  *span = (SessionSpan){first - r->memory.base, first - r->memory.base + n};
  return r->memory.state == WG_MEMORY_LIVE && is_kept(r->kind) && span->to <= r->memory.size;
}

// Does the source, when the call returns, hold the bytes that the device will get? Page-locked
// memory of an asynchronous copy is read when the copy runs, which may be later.
static bool is_known_by_host(const SessionCopy *c) {
  HeapRange r;
  if (c->is_set) return c->value_bytes != 0;
  if (c->from.kind == SESSION_PLACE_ARRAY || c->from.kind == SESSION_PLACE_DEVICE) return false;
  bool known = session_ranges_look(c->from.address, &r) && r.memory.state == WG_MEMORY_LIVE;
  return !known || (!c->async && (r.kind == SESSION_PINNED || r.kind == SESSION_REGISTERED));
}

bool record_inputs_reads_source(const SessionCopy *c) {
  HeapRange r;
  SessionSpan span;
  return record_options.inputs && !c->captured && c->width && c->height && c->depth &&
         !session_order_concurrent() && is_known_by_host(c) && goes_to(c, &r, &span);
}

static SessionSpan without(SessionSpan a, SessionSpan covered) {
  return a.from >= covered.from && a.to <= covered.to ? (SessionSpan){0} : a;
}

void record_inputs_copy_contents(const SessionCopy *c) {
  HeapRange r;
  SessionSpan span;
  pthread_mutex_lock(&lock);
  bool ok = goes_to(c, &r, &span);
  Dirty *d = ok ? dirty_of(&r) : NULL;
  SessionSpan stale = d ? d->stale : (SessionSpan){0};
  if (d) {
    d->stale = (SessionSpan){0};
    d->from_host = joined(d->from_host, span);
    bool flat = c->height * c->depth == 1;  // there are no gaps between rows
    if (flat) {
      d->recomputable = without(d->recomputable, span);
      d->other = without(d->other, span);
    }
    if (!d->recomputable.to && !d->other.to) {
      d->nwriters = 0;
      d->unordered = false;
    }
  }
  pthread_mutex_unlock(&lock);
  if (!ok) session_inputs_all_kept(c->step);
  else
    record_keep_copied(c, &(SessionPart){.base = r.memory.base,
                                         .size = r.memory.size,
                                         .from = span.from,
                                         .to = span.to,
                                         .allocation = r.order,
                                         .forget = stale});
}

// --- whether a launch is kept whole: with the memory that earlier launches wrote ---

// A search costs a launch at least LOOK_US, and may take one part in SHARE of the time.
enum { LOOK_US = 50, SHARE = 20 };
static struct {
  uint64_t ranges;     // session_ranges_version() then
  uint64_t passed_ns;  // between launches since then
  uint64_t last_ns;    // end of the last launch call
  uint32_t launch;     // 0: none yet
  int device;
} whole;  // the last launch that was kept whole

static uint64_t recomputable_bytes(void) {
  uint64_t pages = 0;
  for (uint32_t i = 0; i < dirty.len; i++) {
    SessionSpan s = dirty.data[i].recomputable;
    if (s.to) pages += (s.to + SESSION_PAGE - 1) / SESSION_PAGE - s.from / SESSION_PAGE;
  }
  return pages * SESSION_PAGE;
}

// With the lock held. After a new allocation cli/replay.c lays out memory anew, so no earlier
// layout is valid: then the launch must be kept whole.
static bool keep_whole(uint32_t launch, int device) {
  // rate: bytes a microsecond
  uint64_t rate = record_options.inputs_rate, now = clock_ns(), bytes = recomputable_bytes(),
           ranges = session_ranges_version();
  bool must = rate >= RECORD_RATE_UNLIMITED || !whole.launch || whole.ranges != ranges ||
              whole.device != device || session_order_concurrent();
  if (whole.last_ns) whole.passed_ns += now - whole.last_ns;
  whole.last_ns = now;
  bool due = !bytes || (whole.passed_ns / 1000 >= bytes / MAX(rate, 1) && rate &&
                        whole.passed_ns / 1000 >= LOOK_US * SHARE);
  if (!must && !due) return false;
  whole.passed_ns = 0;
  whole.launch = launch;
  whole.ranges = ranges;
  whole.device = device;
  return true;
}

// The time that the driver needed for the call, to compile for instance, does not count.
void record_inputs_launch_taken(void) {
  if (!record_options.inputs) return;
  pthread_mutex_lock(&lock);
  whole.last_ns = clock_ns();
  pthread_mutex_unlock(&lock);
}

static bool can_run_again(const SessionKernel *k) {
  const WovenKernel *code = session_kernel_code(k);
  return code && code->writes_known && !code->order_dependent && !session_order_concurrent();
}

// --- the memory that is searched before a launch ---

static bool comes_before(const Dirty *d, const void *stream) {
  if (!session_order_concurrent()) return !d->unordered;
  for (uint32_t i = 0; i < d->nwriters; i++)
    if (!session_order_before(d->writers[i], stream)) return false;
  return !d->unordered;
}

typedef struct Pointers {
  VEC(uint64_t) list;
} Pointers;

static void add_words(Pointers *out, const uint8_t *bytes, size_t n) {
  for (size_t i = 0; bytes && i + 8 <= n; i += 8) {
    uint64_t word;
    memcpy(&word, bytes + i, 8);
    if (word) vec_push(&out->list, word);
  }
}

static void find_pointers(Pointers *out, const SessionParams *p, SessionParamInfo *info,
                          void *user) {
  size_t offset, size;
  if (!p->pointers) add_words(out, p->buffer, p->buffer_bytes);
  for (uint32_t i = 0; p->pointers && info && info(user, i, &offset, &size); i++)
    add_words(out, p->pointers[i], size);
}

static bool points_into(const Pointers *p, uint64_t base, uint64_t size) {
  for (uint32_t i = 0; i < p->list.len; i++)
    if (p->list.data[i] - base < size) return true;
  return false;
}

typedef struct Gather {
  SessionInputs *in;
  const Pointers *pointers;
} Gather;

// The host writes to such memory without a call: it is searched before every launch.
static void add_host_memory(void *user, const HeapRange *r) {
  Gather *g = user;
  bool wanted = r->kind == SESSION_MANAGED ||
                ((r->kind == SESSION_PINNED || r->kind == SESSION_REGISTERED) &&
                 points_into(g->pointers, r->memory.base, r->memory.size));
  if (r->memory.state != WG_MEMORY_LIVE || !r->memory.size || !wanted) return;
  vec_push(&g->in->parts, (SessionPart){.base = r->memory.base,
                                        .size = r->memory.size,
                                        .to = r->memory.size,
                                        .allocation = r->order});
}

// With the lock held.
static void gather(SessionInputs *in, const Pointers *pointers, const void *stream, bool all) {
  session_ranges_each(add_host_memory, &(Gather){in, pointers});
  for (uint32_t i = 0; i < dirty.len; i++) {
    Dirty *d = &dirty.data[i];
    HeapRange r;
    SessionSpan span = all ? joined(d->other, d->recomputable) : d->other;
    if (!span.to) continue;
    if (!session_ranges_look(d->base, &r) || r.memory.state != WG_MEMORY_LIVE ||
        r.order != d->order) {
      d->other = d->recomputable = (SessionSpan){0};  // it was freed
      continue;
    }
    bool before = comes_before(d, stream);
    if (d->device != in->device || (!before && !points_into(pointers, d->base, d->size))) continue;
    // Pages that a re-run recomputes differ from those kept, even if their contents do not.
    vec_push(&in->parts, (SessionPart){.base = d->base,
                                       .size = d->size,
                                       .from = span.from,
                                       .to = span.to,
                                       .allocation = d->order,
                                       .forget = joined(d->from_host,
                                                        all ? (SessionSpan){0} : d->recomputable)});
    d->from_host = (SessionSpan){0};
    in->disturbed |= !before;
    if (!before) continue;
    d->other = (SessionSpan){0};
    if (all) d->recomputable = (SessionSpan){0};
    if (!d->recomputable.to) d->nwriters = 0;
  }
}

static bool is_selected(const SessionKernel *k) {
  static _Atomic uint64_t candidates;
  const SessionOptions *o = session_options();
  if (!k->wanted) return false;
  uint64_t n = atomic_fetch_add(&candidates, 1);
  return n >= o->launch_skip && n - o->launch_skip < o->launch_count;
}

SessionInputs *record_inputs(const SessionCall *c) {
  if (!record_options.inputs) return NULL;
  const SessionLaunch *l = c->launch;
  SessionInputs *in = is_selected(l->kernel) ? mem_alloc(sizeof *in) : NULL;
  SessionMoment moment;
  pthread_mutex_lock(&lock);
  bool known = session_order_step(l->stream, &moment);
  if (in) {
    Pointers pointers = {0};
    in->device = l->device;
    find_pointers(&pointers, c->params, c->info, c->user);
    bool all = keep_whole(c->number, l->device);
    gather(in, &pointers, l->stream, all);
    vec_free(&pointers.list);
    in->launch = c->number;
    in->since = all ? 0 : whole.launch;
    in->stream = l->stream;
    in->step = record_new_step();
  }
  mark_written(l->kernel, c->params,
               (Writer){known ? &moment : NULL, in && known && can_run_again(l->kernel)});
  pthread_mutex_unlock(&lock);
  return in;
}
