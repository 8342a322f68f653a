// fpcheck for kernels that are machine code only. Their arithmetic cannot be seen, but their output
// can: our own kernel (scan_kernel.cu) counts NaN and infinite numbers in the buffers that such a
// launch writes. It runs after the launch, in the same stream, and compares with the counts from
// before. The machine code (src/sass) tells which buffers these are and which format they hold.
//
// A scan stays valid until something else writes to the buffer. Only then is the buffer scanned
// before the launch, too.
#include "tools/fpcheck/host_closed.h"

_Static_assert((int)SASS_F16 == WG_FP_F16 && (int)SASS_BF16 == WG_FP_BF16 &&
                   (int)SASS_F32 == WG_FP_F32 && (int)SASS_F64 == WG_FP_F64,
               "formats are numbered alike");

enum { FORMATS = SASS_F64 + 1, BYTES_A_BLOCK = WG_FP_SCAN_THREADS * 16 * WG_FP_SCAN_AHEAD * 2 };

typedef struct Buffer {  // an allocation, read as numbers of one format
  uint32_t number;       // of its WgFpHeld; 0: it was never scanned
  uint64_t scanned;      // `epoch` at its last scan; 0: something was written there since
  bool guessed;          // the format is that of the output of a kernel that reads it
} Buffer;

typedef struct Allocation {
  uint64_t base, size;
  struct FpClosed *on;  // the device that numbered its buffers; NULL: they have no numbers
  bool kept;            // the next allocation that begins there keeps these contents
  Buffer as[FORMATS];
} Allocation;

// Events arrive soon after their launches: the latest launches are enough.
enum { RECENT = 1 << 16 };
typedef struct Recent {
  uint32_t launch;
  SessionKernel *kernel;
} Recent;

struct FpClosed {  // of one device
  ToolDevice *on;
  SessionOwnKernel kernel;
  uint64_t held, sums;
  WgFpEvents *events;
  uint32_t scans, buffers, read;  // read: events
  uint8_t *formats;               // SassFormat, by number of the WgFpHeld
  uint8_t *one_of;                // … SASS_BIT()s of all that it may be; 0: it is known
  Recent *recent;                 // by number of the launch, modulo RECENT
  struct FpClosed *next;
};

extern const char probe_scan_kernel_text[];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static U64Map allocations;    // base -> Allocation
static uint64_t epoch = 1;    // grows with each launch that may write anywhere
static struct FpClosed *all;  // with the lock held

// --- writes by others ---

static void forget(Allocation *a) {
  for (unsigned f = 0; f < FORMATS; f++) a->as[f].scanned = 0;
}

void fp_closed_allocated(uint64_t base, uint64_t size, const char *name) {
  pthread_mutex_lock(&lock);
  Allocation *a = allocations.len ? u64map_get(&allocations, base) : NULL;
  if (a && (!a->kept || a->size != size)) forget(a);
  if (a) {
    a->size = size;
    a->kept = false;
  }
  pthread_mutex_unlock(&lock);
}

void fp_closed_contents_kept(uint64_t base) {
  pthread_mutex_lock(&lock);
  Allocation *a = allocations.len ? u64map_get(&allocations, base) : NULL;
  if (a) a->kept = true;
  pthread_mutex_unlock(&lock);
}

void fp_closed_copied(const SessionCopy *c) {
  HeapRange r;
  if (c->to.kind == SESSION_PLACE_ARRAY || !session_ranges_look(c->to.address, &r)) return;
  pthread_mutex_lock(&lock);
  Allocation *a = allocations.len ? u64map_get(&allocations, r.memory.base) : NULL;
  if (a) forget(a);
  pthread_mutex_unlock(&lock);
}

void fp_closed_unknown_writes(void) {
  pthread_mutex_lock(&lock);
  epoch++;
  pthread_mutex_unlock(&lock);
}

// --- the device ---

void fp_closed_open(ToolDevice *d) {
  if (d->ops->direct || !session_reads_closed()) return;
  size_t held = WG_FP_SCAN_BUFFERS * sizeof(WgFpHeld);
  SessionOwnKernel k = {.host_bytes = sizeof(WgFpEvents),
                        .device_bytes = held + WG_FP_SCAN_SUMS * sizeof(WgFpSum)};
  if (!d->ops->load_kernel(d->user, probe_scan_kernel_text, "wg_fp_scan", &k)) return;
  struct FpClosed *c = mem_alloc(sizeof *c);
  *c = (struct FpClosed){.on = d,
                         .kernel = k,
                         .held = k.device,
                         .sums = k.device + held,
                         .events = k.host,
                         .formats = mem_alloc(WG_FP_SCAN_BUFFERS),
                         .one_of = mem_alloc(WG_FP_SCAN_BUFFERS),
                         .recent = mem_alloc(RECENT * sizeof(Recent))};
  pthread_mutex_lock(&lock);
  c->next = all;
  all = c;
  pthread_mutex_unlock(&lock);
  ((FpDevice *)d->state)->closed = c;
}

// No buffer has a number of this device any more. With the lock held.
static void forget_numbers(const struct FpClosed *c) {
  uint32_t it = 0;
  uint64_t base;
  void *value;
  while (u64map_next(&allocations, &it, &base, &value)) {
    Allocation *a = value;
    if (a->on != c) continue;
    memset(a->as, 0, sizeof a->as);
    a->on = NULL;
  }
}

// Its memory on the device stays: a scan that has not ended may use it.
void fp_closed_close(ToolDevice *d) {
  struct FpClosed *c = ((FpDevice *)d->state)->closed;
  if (!c) return;
  fp_closed_tell();
  pthread_mutex_lock(&lock);
  struct FpClosed **p = &all;
  while (*p != c) p = &(*p)->next;
  *p = c->next;
  forget_numbers(c);
  pthread_mutex_unlock(&lock);
  free(c->formats);
  free(c->one_of);
  free(c->recent);
  free(c);
  ((FpDevice *)d->state)->closed = NULL;
}

// --- which buffers a launch writes ---

typedef struct Touched {
  Allocation *allocation;
  bool steady;
  uint32_t writes;  // SASS_BIT()s
} Touched;
typedef VEC(Touched) TouchedList;

static Allocation *allocation_of(const SessionClosedPointer *p) {
  Allocation *a = u64map_get(&allocations, p->base);
  if (!a) {
    a = mem_alloc(sizeof *a);
    *a = (Allocation){.base = p->base, .size = p->size};
    u64map_put(&allocations, p->base, a);
  } else if (a->size != p->size) {
    forget(a);
    a->size = p->size;
  }
  return a;
}

static Touched *touched(TouchedList *list, const SessionClosedPointer *p) {
  for (uint32_t i = 0; i < list->len; i++)
    if (list->data[i].allocation->base == p->base) return &list->data[i];
  vec_push(list, ((Touched){allocation_of(p), p->steady, 0}));
  return &list->data[list->len - 1];
}

// A store through an unknown parameter may go to any buffer that no other store goes to.
static TouchedList touched_by(const SessionClosedLaunch *l) {
  TouchedList list = {0};
  for (uint32_t i = 0; i < l->pointers.len; i++) {
    const SessionClosedPointer *p = &l->pointers.data[i];
    Touched *t = touched(&list, p);
    t->writes |= fp_closed_formats(l, p->param);
    if (l->stores->through_tensor && p->tensor) t->writes |= SASS_BIT(p->tensor);
  }
  uint32_t anywhere = fp_closed_formats(l, SASS_NO_PARAM);
  for (uint32_t i = 0; anywhere && i < list.len; i++)
    if (!list.data[i].writes) list.data[i].writes = anywhere;
  return list;
}

// --- scans ---

static bool is_known(const Touched *t, unsigned format) {
  return t->steady && t->allocation->as[format].scanned == epoch;
}

// If a device has no number left, all buffers are numbered anew.
static uint32_t number(struct FpClosed *c, Allocation *a, unsigned format) {
  if (a->on && a->on != c) memset(a->as, 0, sizeof a->as);  // of another device
  Buffer *b = &a->as[format];
  if (!b->number && c->buffers + 1 == WG_FP_SCAN_BUFFERS) {
    forget_numbers(c);
    c->buffers = 0;
  }
  if (!b->number) b->number = ++c->buffers;
  a->on = c;
  c->formats[b->number] = (uint8_t)format;
  return b->number;
}

typedef struct Scan {  // before or after a launch
  struct FpClosed *c;
  const SessionClosedLaunch *of;
  WgFpScan work;
  uint64_t bytes;
} Scan;

static void launch_scan(Scan *scan) {
  struct FpClosed *c = scan->c;
  WgFpScan *s = &scan->work;
  if (!s->nparts) return;
  s->held = c->held;
  s->sum = c->sums + c->scans++ % WG_FP_SCAN_SUMS * sizeof(WgFpSum);
  s->events = c->kernel.host_at;
  s->memory = ((FpDevice *)c->on->state)->memory;
  s->stored = ((FpDevice *)c->on->state)->stored;
  s->launch = scan->of->number;
  s->site = scan->of->kernel->closed_sites + WG_CLOSED_SITES;
  uint64_t most = c->kernel.processors * 8ull;
  unsigned blocks = (unsigned)MIN(MAX(scan->bytes / BYTES_A_BLOCK, (uint64_t)1), most);
  void *params[] = {s};
  c->on->ops->launch_kernel(c->on->user, scan->of->stream, &c->kernel, blocks, WG_FP_SCAN_THREADS,
                            params);
  s->nparts = 0;
  scan->bytes = 0;
}

// The formats that the launch may store there, if there are several; else 0.
static uint32_t one_of(uint32_t writes) {
  uint32_t floats = writes & SASS_FLOATS;
  return floats & (floats - 1) ? floats : 0;
}

// Launches with lists of tensors have more buffers than one scan takes.
static void add_part(Scan *scan, const Touched *t, unsigned format, bool guessed) {
  WgFpScan *s = &scan->work;
  Allocation *a = t->allocation;
  if (s->nparts == WG_FP_SCAN_PARTS) launch_scan(scan);
  s->parts[s->nparts++] = (WgFpPart){a->base, a->size, number(scan->c, a, format), format};
  scan->c->one_of[a->as[format].number] = (uint8_t)one_of(t->writes);
  scan->bytes += a->size;
  a->as[format].scanned = epoch;
  a->as[format].guessed = guessed;
}

// The formats that a launch writes. Its inputs most likely have one of these formats, too.
static uint32_t formats_written(const TouchedList *list) {
  uint32_t formats = 0;
  for (uint32_t i = 0; i < list->len; i++) formats |= list->data[i].writes & SASS_FLOATS;
  return formats;
}

// true: some format of it is known and up to date
static bool has_known(const Touched *t) {
  for (unsigned f = SASS_F16; f < FORMATS; f++)
    if (is_known(t, f)) return true;
  return false;
}

// Scans the buffers that the launch writes and whose last scan is out of date. Also scans buffers
// that it may read and that have no valid scan.
void fp_closed_begins(ToolDevice *d, const SessionClosedLaunch *l) {
  struct FpClosed *c = ((FpDevice *)d->state)->closed;
  if (!c) return;
  Scan scan = {.c = c, .of = l, .work = {.behind = 0}};
  pthread_mutex_lock(&lock);
  TouchedList list = touched_by(l);
  uint32_t written = formats_written(&list);
  for (uint32_t i = 0; written && i < list.len; i++) {
    const Touched *t = &list.data[i];
    for (unsigned f = SASS_F16; f < FORMATS; f++)
      if (t->writes >> f & 1 && !is_known(t, f)) add_part(&scan, t, f, one_of(t->writes));
    if (!(t->writes & SASS_FLOATS) && !has_known(t))
      add_part(&scan, t, (unsigned)__builtin_ctz(written), true);
  }
  launch_scan(&scan);
  pthread_mutex_unlock(&lock);
  vec_free(&list);
}

static void add_input(WgFpScan *s, const Touched *t) {
  for (unsigned f = SASS_F16; f < FORMATS && s->ninputs < WG_FP_SCAN_INPUTS; f++) {
    const Buffer *b = &t->allocation->as[f];
    if (is_known(t, f) && b->number)
      s->inputs[s->ninputs++] = b->number | (b->guessed ? (uint32_t)WG_FP_GUESSED : 0);
  }
}

void fp_closed_ends(ToolDevice *d, const SessionClosedLaunch *l) {
  struct FpClosed *c = ((FpDevice *)d->state)->closed;
  if (!c) return;
  Scan scan = {.c = c, .of = l, .work = {.behind = 1}};
  pthread_mutex_lock(&lock);
  TouchedList list = touched_by(l);
  for (uint32_t i = 0; i < list.len; i++) add_input(&scan.work, &list.data[i]);
  for (uint32_t i = 0; i < list.len; i++) {
    Touched *t = &list.data[i];
    if (t->writes) forget(t->allocation);
    for (unsigned f = SASS_F16; f < FORMATS; f++)
      if (t->writes >> f & 1) add_part(&scan, t, f, one_of(t->writes));
  }
  c->recent[l->number % RECENT] = (Recent){l->number, l->kernel};
  launch_scan(&scan);
  pthread_mutex_unlock(&lock);
  vec_free(&list);
  fp_closed_tell();
}

// --- reporting events ---

static void describe(Str *out, const WgFpEvent *e, SassFormat format, uint32_t formats) {
  uint32_t nan = e->nan > e->nan_before ? e->nan - e->nan_before : 0,
           inf = e->inf > e->inf_before ? e->inf - e->inf_before : 0;
  if (nan) str_printf(out, "%u NaN%s", nan, inf ? " and " : "");
  if (inf) str_printf(out, "%u infinite value%s", inf, inf == 1 ? "" : "s");
  str_add(out, " (");
  fp_closed_name_formats(out, format, formats);
  str_add(out, ") in what the kernel wrote; ");
  uint32_t guessed = e->inputs / WG_FP_INPUT_GUESSED;
  if (guessed)
    str_add(out, "something that it may read looks like one, of a format that is not known");
  else str_add(out, "its inputs were finite");
}

// An exception that the launch read was not born in it; neither was NaN if the launch read
// infinity.
static bool is_carried(const WgFpEvent *e) {
  bool nan = e->nan > e->nan_before;
  return nan ? e->inputs & (WG_FP_INPUT_NAN | WG_FP_INPUT_INF) : e->inputs & WG_FP_INPUT_INF;
}

static void tell_event(const WgFpEvent *e, SassFormat format, uint32_t formats, SessionKernel *k) {
  if (is_carried(e) || !k || !fp_closed_confirmed(e, format, formats)) return;
  bool nan = e->nan > e->nan_before, guessed = e->inputs / WG_FP_INPUT_GUESSED;
  Str text = {0};
  describe(&text, e, format, formats);
  session_finding(&(SessionFinding){.kind = guessed ? "fp-input"
                                            : nan   ? "fp-nan"
                                                    : "fp-inf",
                                    .text = text.data,
                                    .kernel = k,
                                    .launch = e->launch,
                                    .has_address = true,
                                    .address = e->first,
                                    .size = wg_fp_bytes(format)});
  str_free(&text);
}

static void read_event(struct FpClosed *c, volatile WgFpEvent *at) {
  if (!at->sequence) return;
  atomic_thread_fence(memory_order_acquire);
  WgFpEvent e = *at;
  at->sequence = 0;
  c->read++;
  Recent r = c->recent[e.launch % RECENT];
  SassFormat format = (SassFormat)c->formats[e.buffer % WG_FP_SCAN_BUFFERS];
  tell_event(&e, format, c->one_of[e.buffer % WG_FP_SCAN_BUFFERS],
             r.launch == e.launch ? r.kernel : NULL);
}

// Events are written after launches, at any time; most launches have none.
void fp_closed_tell(void) {
  pthread_mutex_lock(&lock);
  for (struct FpClosed *c = all; c; c = c->next) {
    volatile WgFpEvents *ring = c->events;
    for (uint32_t i = 0; i < WG_FP_SCAN_EVENTS && c->read + ring->lost != ring->written; i++)
      read_event(c, &ring->list[i]);
  }
  pthread_mutex_unlock(&lock);
}

void fp_closed_synchronised(const void *stream, bool every) {
  (void)stream;
  (void)every;
  fp_closed_tell();
}
