// The buffers that a launch may have written, which --hash (hash_buffers.c) and --dump-buffers
// (dump_buffers.c) read after it, and whether something else may write to them meanwhile.
//
// The pointers that a kernel stores through are known from its code (weave/find_writes.c). If the
// code does not show this, everything that the parameters point to counts. A graph counts as one
// launch: all that its kernels may have written.
#include "session/written_buffers.h"

enum { RECENT = 1024 };  // accesses that are remembered

bool session_wants_outputs(void) { return session_options()->hash || session_options()->dump; }

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;  // taken before session_lock
static _Atomic uint32_t last_step, last_graph;
static _Atomic uint64_t epoch = 1;
void session_outputs_unseen(void) { atomic_fetch_add(&epoch, 1); }
uint64_t session_outputs_epoch(void) { return atomic_load(&epoch); }
static StrMap variables;  // name -> its address

void session_outputs_variable(const char *name, uint64_t base) {
  if (!name || (!session_wants_outputs() && !session_wants(SESSION_WANTS_INPUTS))) return;
  pthread_mutex_lock(&lock);
  void *known = strmap_get(&variables, name);
  strmap_put(&variables, known ? name : mem_strdup(name), (void *)(uintptr_t)base);
  pthread_mutex_unlock(&lock);
}

uint64_t session_outputs_variable_at(const char *name) {
  pthread_mutex_lock(&lock);
  uint64_t base = (uintptr_t)strmap_get(&variables, name);
  pthread_mutex_unlock(&lock);
  return base;
}

// --- which buffers ---

SessionOutputs *session_outputs_begin(uint32_t launch, int device) {
  SessionOutputs *o = mem_alloc(sizeof *o);
  o->device = device;
  o->launch = launch;
  o->refs = 1;
  return o;
}

bool session_outputs_readable(const HeapRange *r, int device, bool certain) {
  switch (r->kind) {
    case SESSION_DEVICE:
    case SESSION_POOL:
    case SESSION_VARIABLE: return r->device == device;
    case SESSION_MANAGED:
    case SESSION_PINNED: return true;
    case SESSION_VIRTUAL: return certain && r->device == device;
    default: return false;
  }
}

// Memory that a kernel writes. element: bytes of one, 0 if not known; parameter: number, from 1, of
// the one that points there; from, to: the addresses that are written, to 0: not known
typedef struct Written {
  uint64_t address;
  uint32_t element, parameter;
  PtxType type;
  uint64_t from, to;
} Written;
static void add(SessionOutputs *o, Written w) {
  uint32_t element = w.element;
  HeapRange r;
  if (!session_ranges_look(w.address, &r) || r.memory.state != WG_MEMORY_LIVE || !r.memory.size ||
      !session_outputs_readable(&r, o->device, element != 0))
    return;
  uint64_t base = r.memory.base, end = base + r.memory.size;
  uint64_t from = w.to ? MIN(MAX(w.from, base), end) - base : 0,
           to = w.to ? MAX(MIN(w.to, end), base) - base : r.memory.size;
  for (uint32_t i = 0; i < o->buffers.len; i++) {
    SessionBuffer *b = &o->buffers.data[i];
    if (b->base != r.memory.base) continue;
    b->from = MIN(b->from, from);
    b->to = MAX(b->to, to);
    if (element && (!b->element || element < b->element)) {
      b->element = element;
      b->parameter = w.parameter;
      b->type = w.type;
    }
    return;
  }
  if (o->buffers.len == OUTPUTS_MOST) return;
  vec_push(&o->buffers,
           (SessionBuffer){.base = r.memory.base,
                           .size = r.memory.size,
                           .from = from,
                           .to = to,
                           .allocation = r.kind == SESSION_DEVICE ? r.order : 0,
                           .may_wait = r.kind == SESSION_DEVICE || r.kind == SESSION_VARIABLE,
                           .element = element,
                           .parameter = w.parameter,
                           .type = w.type});
}

static void add_words(SessionOutputs *o, const uint8_t *bytes, size_t n, uint32_t parameter) {
  for (size_t i = 0; i + 8 <= n; i += 8) {
    uint64_t word;
    memcpy(&word, bytes + i, 8);
    if (word) add(o, (Written){.address = word, .parameter = parameter, .type = TYPE_NONE});
  }
}

static void add_all_parameters(SessionOutputs *o, const SessionParams *p, SessionParamInfo *info,
                               void *user) {
  size_t offset, size;
  if (!p->pointers) add_words(o, p->buffer, p->buffer ? p->buffer_bytes : 0, 0);
  for (uint32_t i = 0; p->pointers && info && info(user, i, &offset, &size); i++)
    if (p->pointers[i]) add_words(o, p->pointers[i], size, i + 1);
}

static void say_numerics(SessionKernel *k, const WovenKernel *code) {
  if (!code || (!code->approximate && !code->order_dependent) ||
      atomic_exchange(&k->numerics_said, true))
    return;
  char relative[32], absolute[32];
  snprintf(relative, sizeof relative, "%.17g", code->relative_limit);
  snprintf(absolute, sizeof absolute, "%.17g", code->absolute_limit);
  pthread_mutex_lock(&session_lock);
  session_announce_kernel(k);
  pthread_mutex_unlock(&session_lock);
  session_send(EVENT_NUMERICS, &(EventNumerics){k->id, code->approximate, code->order_dependent,
                                                relative, absolute});
}

void session_outputs_add(SessionOutputs *o, SessionKernel *k, const SessionParams *params,
                         SessionParamInfo *info, void *user) {
  const WovenKernel *code = session_kernel_code(k);
  if (!k->wanted) {
    session_outputs_unseen();
    return;
  }
  say_numerics(k, code);
  if (session_dump_option()) {
    o->kernel_fits |= dump_option_kernel_fits(session_dump_option(), k->name);
    if (o->launch) session_dump_note_pointers(o, params, info, user);
  }
  bool known = code && code->writes_known;
  for (uint32_t i = 0; known && i < code->nwrites; i++) {
    const WeaveWrite *w = &code->writes[i];
    uint64_t pointer, from = 0, to = 0;
    if (!session_fact_pointer(&w->pointer, params, &pointer) || !pointer) continue;
    if (!o->launch || !session_reach(code, w, params, session_launched(), &from, &to))
      from = to = 0;
    add(o, (Written){pointer, w->pointer.bytes, w->pointer.param + 1, w->type, from, to});
  }
  for (uint32_t i = 0; known && i < code->nwritten_variables; i++) {
    uint64_t base = session_outputs_variable_at(code->written_variables[i].name);
    PtxType type = code->written_variables[i].type;
    if (base) add(o, (Written){.address = base, .element = ptx_type_size(type), .type = type});
  }
  if (!known || code->writes_elsewhere) {
    o->guessed = true;
    add_all_parameters(o, params, info, user);
  }
  o->kernels++;
}

// --- other writers ---

// A buffer that a launch writes, or that is only read after it (dump); or what a copy writes (no
// outputs).
typedef struct Access {
  SessionMoment moment;
  uint64_t base, size;
  SessionOutputs *outputs;
  uint32_t buffer;
  bool dump, reads;
} Access;
static Access recent[RECENT];
static uint32_t nrecent;

static void disturb(const Access *a) {
  if (!a->outputs) return;
  SessionBuffer *b = a->dump ? &a->outputs->dumped.data[a->buffer]
                             : &a->outputs->buffers.data[a->buffer];
  session_outputs_unseen();
  if (!atomic_exchange(&b->disturbed, true) && a->outputs->told)
    session_send(EVENT_DISTURBED, &(EventDisturbed){a->outputs->step, a->buffer, a->dump});
}

static void let_go(SessionOutputs *o) {
  if (atomic_fetch_sub(&o->refs, 1) > 1) return;
  vec_free(&o->buffers);
  vec_free(&o->dumped);
  vec_free(&o->pointers);
  free(o);
}

// With the lock held. This access is the last operation of the stream.
static void meet_others(const Access *a, const void *stream) {
  for (uint32_t i = 0; i < nrecent && i < RECENT; i++) {
    const Access *other = &recent[(nrecent - 1 - i) % RECENT];
    if (a->base >= other->base + other->size || other->base >= a->base + a->size ||
        (a->reads && other->reads))
      continue;
    if ((other->outputs == a->outputs && a->outputs) || session_order_before(other->moment, stream))
      continue;
    if (!a->reads) disturb(other);
    if (!other->reads) disturb(a);
  }
}

static void remember(const Access *a) {
  Access *to = &recent[nrecent++ % RECENT];
  if (to->outputs) let_go(to->outputs);
  *to = *a;
  if (to->outputs) atomic_fetch_add(&to->outputs->refs, 1);
}

static void take_place(const Access *a, const void *stream) {
  if (session_order_concurrent()) meet_others(a, stream);
  remember(a);
}

// --- what copies have written since a buffer was last hashed ---

typedef struct Changed {
  uint64_t from, to;
} Changed;
// number of the allocation -> what copies have written there. With the lock held
static U64Map changed;

static void note_changed(uint64_t address, uint64_t n) {
  HeapRange r;
  if (!session_ranges_look(address, &r) || r.kind != SESSION_DEVICE) return;
  Changed *c = u64map_get(&changed, r.order);
  uint64_t from = address - r.memory.base, to = from + n;
  if (!c) {
    c = mem_alloc(sizeof *c);
    *c = (Changed){from, to};
    u64map_put(&changed, r.order, c);
  }
  *c = (Changed){MIN(c->from, from), MAX(c->to, to)};
}

static void take_changed(SessionBuffer *b) {
  Changed *c = b->allocation && changed.len ? u64map_remove(&changed, b->allocation) : NULL;
  if (!c) return;
  b->from = MIN(b->from, c->from);
  b->to = MIN(MAX(b->to, c->to), b->size);
  free(c);
}

void session_outputs_changed(uint64_t address, uint64_t n) {
  pthread_mutex_lock(&lock);
  note_changed(address, n);
  pthread_mutex_unlock(&lock);
}

void session_outputs_copy(const SessionCopy *c) {
  if (!session_wants_outputs() || c->captured || c->to.kind == SESSION_PLACE_HOST ||
      c->to.kind == SESSION_PLACE_ARRAY)
    return;
  uint64_t pitch = c->to.pitch ? c->to.pitch : c->width, rows = c->to.rows ? c->to.rows : c->height;
  Access a = {.base = c->to.address + c->to.x,
              .size = pitch * (rows * (c->depth - 1) + c->height - 1) + c->width};
  pthread_mutex_lock(&lock);
  note_changed(a.base, a.size);
  if (session_order_now(c->stream, &a.moment)) take_place(&a, c->stream);
  pthread_mutex_unlock(&lock);
}

// --- the step ---

enum { WORDS = 5 };  // of a buffer in an event

static uint64_t *words_of(const SessionBuffer *list, uint32_t n) {
  uint64_t *words = mem_alloc(n * WORDS * 8 + 8);
  pthread_mutex_lock(&session_lock);
  for (uint32_t i = 0; i < n; i++) {
    const SessionBuffer *b = &list[i];
    memcpy(words + i * WORDS,
           (uint64_t[WORDS]){b->base, b->size, b->element, b->parameter,
                             b->type == TYPE_NONE ? 0 : session_string(ptx_type_name(b->type))},
           WORDS * 8);
  }
  pthread_mutex_unlock(&session_lock);
  return words;
}

// An event holds a limited number of words; buffers beyond it have no hash.
static void note_left_out(const SessionOutputs *o) {
  static _Atomic bool said;
  enum { MOST = CHANNEL_LIST_MAX / WORDS };
  if ((o->buffers.len <= MOST && o->dumped.len <= MOST) || atomic_exchange(&said, true)) return;
  session_note(SEVERITY_WARNING,
               "a launch may have written to more than %d buffers: those beyond have no hashes and "
               "are not dumped",
               MOST);
}

static void send(SessionOutputs *o) {
  note_left_out(o);
  uint64_t *buffers = words_of(o->buffers.data, o->buffers.len),
           *dumped = words_of(o->dumped.data, o->dumped.len);
  session_send(EVENT_OUTPUTS,
               &(EventOutputs){o->step, o->launch, o->graph, (o->guessed ? OUTPUTS_GUESSED : 0),
                               buffers, o->buffers.len * WORDS, dumped, o->dumped.len * WORDS});
  free(buffers);
  free(dumped);
}

static uint32_t element_of(const SessionBuffer *b) {
  switch (b->element) {
    case 1:
    case 2:
    case 4:
    case 8:
    case 16: return b->element;
    default: return 4;
  }
}

SessionOutputs *session_outputs_close(SessionOutputs *o, const void *stream) {
  session_dump_choose(o);
  if (!session_options()->hash) o->buffers.len = 0;
  if (!o->buffers.len && !o->dumped.len) {
    if (!o->launch || o->guessed) session_outputs_unseen();
    let_go(o);
    return NULL;
  }
  for (uint32_t i = 0; i < o->buffers.len; i++)
    o->buffers.data[i].element = element_of(&o->buffers.data[i]);
  pthread_mutex_lock(&lock);
  o->step = atomic_fetch_add(&last_step, 1) + 1;
  if (!o->launch) o->graph = atomic_fetch_add(&last_graph, 1) + 1;
  if (!o->launch || o->guessed) session_outputs_unseen();
  for (uint32_t i = 0; i < o->buffers.len; i++) take_changed(&o->buffers.data[i]);
  SessionMoment moment;
  bool known = session_order_step(stream, &moment);
  for (uint32_t i = 0; known && i < o->buffers.len; i++)
    take_place(
        &(Access){moment, o->buffers.data[i].base, o->buffers.data[i].size, o, i, false, false},
        stream);
  for (uint32_t i = 0; known && i < o->dumped.len; i++)
    take_place(&(Access){moment, o->dumped.data[i].base, o->dumped.data[i].size, o, i, true, true},
               stream);
  o->epoch = epoch;  // after all that disturbs it
  pthread_mutex_unlock(&lock);
  return o;
}

void session_outputs_tell(SessionOutputs *o) {
  pthread_mutex_lock(&lock);
  send(o);
  o->told = true;
  for (uint32_t i = 0; i < o->buffers.len; i++)
    if (o->buffers.data[i].disturbed)
      session_send(EVENT_DISTURBED, &(EventDisturbed){o->step, i, false});
  for (uint32_t i = 0; i < o->dumped.len; i++)
    if (o->dumped.data[i].disturbed)
      session_send(EVENT_DISTURBED, &(EventDisturbed){o->step, i, true});
  pthread_mutex_unlock(&lock);
}

void session_outputs_read(SessionOutputs *o, uint32_t buffer, const void *stream) {
  const SessionBuffer *b = &o->buffers.data[buffer];
  SessionMoment moment;
  pthread_mutex_lock(&lock);
  if (session_order_step(stream, &moment))
    take_place(&(Access){moment, b->base, b->size, o, buffer, false, true}, stream);
  pthread_mutex_unlock(&lock);
}

void session_outputs_keep(SessionOutputs *o) { atomic_fetch_add(&o->refs, 1); }

void session_outputs_free(SessionOutputs *o) {
  if (o) let_go(o);
}

void session_outputs_ready(const SessionOutputs *o, SessionIsThere *is_there) {
  if (o->buffers.len) session_hash_ready(o, is_there);
  for (uint32_t i = 0; i < o->dumped.len; i++)
    if (is_there(o->dumped.data[i].base, o->dumped.data[i].size))
      session_dump(o, i, (const void *)(uintptr_t)o->dumped.data[i].base);
}
