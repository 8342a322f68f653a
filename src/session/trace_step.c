// --record: what happens on the device in the order the program asks for it: launches, copies and
// sets, with what copies from the host bring along.
#include "session/inputs.h"
#include "session/trace.h"

static _Atomic uint32_t last_step;
static _Thread_local Recorded recorded;  // of the thread's last launch

void session_trace_marks(Recorded is) { recorded = is; }

bool session_wants_steps(void) { return session_wants_trace() || session_wants_inputs(); }

uint32_t session_step_last(void) { return last_step; }

static uint32_t new_step(void) {
  return atomic_fetch_add_explicit(&last_step, 1, memory_order_relaxed) + 1;
}

// --- launches ---

enum { PARAMETER_WORDS = CHANNEL_LIST_MAX / 8 };

// How many words of it there are; 0: not known.
static uint32_t read_parameter(const SessionParams *p, uint32_t i, size_t offset, size_t size,
                               uint64_t *words) {
  const uint8_t *at = NULL;
  if (p->pointers) at = p->pointers[i];
  else if (p->buffer && offset + size <= p->buffer_bytes) at = (const uint8_t *)p->buffer + offset;
  size_t kept = at ? MIN(size, PARAMETER_WORDS * sizeof *words) : 0;
  if (!kept) return 0;
  words[(kept - 1) / 8] = 0;
  memcpy(words, at, kept);
  return (uint32_t)((kept + 7) / 8);
}

static void send_parameters(uint32_t launch, const SessionParams *p, SessionParamInfo *info,
                            void *user) {
  size_t offset, size;
  for (uint32_t i = 0; info && info(user, i, &offset, &size); i++) {
    uint64_t words[PARAMETER_WORDS];
    uint32_t n = read_parameter(p, i, offset, size, words);
    session_send(EVENT_PARAMETER, &(EventParameter){launch, i, size, words, n});
  }
}

// --- launches of graphs: a step each time they run ---

typedef struct Captured {
  SessionLaunch launch;
  Recorded recorded;
  VEC(EventParameter) parameters;
} Captured;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static U64Map captured;  // by number; never removed: a graph may live as long as the process

static void remember(const SessionLaunch *l, uint32_t number, Recorded is, const SessionParams *p,
                     SessionParamInfo *info, void *user) {
  Captured *c = mem_alloc(sizeof *c);
  size_t offset, size;
  c->launch = *l;
  c->recorded = is;
  for (uint32_t i = 0; info && info(user, i, &offset, &size); i++) {
    uint64_t *words = mem_alloc((size + 7) / 8 * 8 + 8);
    uint32_t n = read_parameter(p, i, offset, size, words);
    vec_push(&c->parameters, ((EventParameter){0, i, size, words, n}));
  }
  pthread_mutex_lock(&lock);
  u64map_put(&captured, number, c);
  pthread_mutex_unlock(&lock);
}

uint32_t session_step_again(uint32_t number) {
  pthread_mutex_lock(&lock);
  const Captured *c = u64map_get(&captured, number);
  pthread_mutex_unlock(&lock);
  if (!c) return 0;
  uint32_t again = session_launch_number(&c->launch), step = new_step();
  // before the step: a file that has it has its parameters
  for (uint32_t i = 0; i < c->parameters.len; i++) {
    EventParameter e = c->parameters.data[i];
    e.launch = again;
    session_send(EVENT_PARAMETER, &e);
  }
  session_step_ordered(step, c->launch.stream, (StepHow){0});
  session_send(EVENT_STEP, &(EventStep){.number = step,
                                        .kind = STEP_LAUNCH,
                                        .launch = again,
                                        .recorded = c->recorded,
                                        .stream = (uintptr_t)c->launch.stream,
                                        .device = (uint64_t)c->launch.device,
                                        .time_ns = clock_ns()});
  return again;
}

static StepHow how_ordered(const SessionLaunch *l) {
  const WovenKernel *code = l->kernel ? session_kernel_code(l->kernel) : NULL;
  return (StepHow){.overlaps = l->overlaps && !(code && code->race_waits),
                   .host_knows = code && code->race_tells_host};
}

void session_step_launch(const SessionLaunch *l, uint32_t number, const SessionParams *params,
                         SessionParamInfo *info, void *user) {
  Recorded is = recorded;
  recorded = RECORDED_IN_PART;
  if (!session_wants_steps()) return;
  if (is != RECORDED_ALL || l->captured) session_trace_unknown();
  if (l->captured) {
    if (session_wants_trace()) remember(l, number, is, params, info, user);
    return;
  }
  uint32_t step = new_step();
  // before the step: a file that has it has its parameters
  send_parameters(number, params, info, user);
  session_step_ordered(step, l->stream, how_ordered(l));
  session_send(EVENT_STEP, &(EventStep){.number = step,
                                        .kind = STEP_LAUNCH,
                                        .launch = number,
                                        .recorded = is,
                                        .stream = (uintptr_t)l->stream,
                                        .device = (uint64_t)l->device,
                                        .time_ns = clock_ns()});
  session_inputs_launched();
}

void session_launch_times(uint32_t launch, uint64_t begin_ns, uint64_t end_ns) {
  if (session_wants_steps())
    session_send(EVENT_LAUNCH_TIME, &(EventLaunchTime){launch, begin_ns, end_ns});
}

// --- copies and sets ---

static bool is_host_kind(SessionMemoryKind kind) {
  return kind == SESSION_PINNED || kind == SESSION_REGISTERED;
}

// readable: by the host
typedef struct Side {
  uint64_t first;
  size_t pitch, slice;
  bool host, array, readable;
} Side;

static Side side_of(const SessionCopy *c, const SessionPlace *p) {
  Side s = {.array = p->kind == SESSION_PLACE_ARRAY};
  s.pitch = p->pitch ? p->pitch : p->x + c->width;
  s.slice = s.pitch * (p->rows ? p->rows : p->y + c->height);
  s.first = s.array ? p->address : p->address + p->z * s.slice + p->y * s.pitch + p->x;
  HeapRange r;
  bool known = !s.array && session_ranges_look(s.first, &r) && r.memory.state == WG_MEMORY_LIVE;
  s.host = !s.array && p->kind != SESSION_PLACE_DEVICE && (!known || is_host_kind(r.kind));
  if (p->kind == SESSION_PLACE_HOST) s.host = true;
  s.readable = s.host || (known && r.kind == SESSION_MANAGED);
  return s;
}

static void send_rows(const SessionCopy *c, const Side *to, const Side *from) {
  if (to->pitch == c->width && from->pitch == c->width && to->slice == c->width * c->height &&
      from->slice == to->slice) {
    channel_contents(c->step, to->first, (const void *)(uintptr_t)from->first,
                     c->width * c->height * c->depth);
    return;
  }
  for (size_t z = 0; z < c->depth; z++)
    for (size_t y = 0; y < c->height; y++)
      channel_contents(c->step, to->first + z * to->slice + y * to->pitch,
                       (const void *)(uintptr_t)(from->first + z * from->slice + y * from->pitch),
                       c->width);
}

static void send_set(const SessionCopy *c, const Side *to) {
  if (!c->value_bytes) return;
  if (c->height == 1 || to->pitch == c->width)
    channel_contents_fill(c->step, to->first, &c->value, c->value_bytes, c->width * c->height);
  else
    for (size_t y = 0; y < c->height; y++)
      channel_contents_fill(c->step, to->first + y * to->pitch, &c->value, c->value_bytes,
                            c->width);
}

void session_step_variable(uint64_t base, const void *bytes, size_t n, int device) {
  if (!session_wants_trace()) return;
  uint32_t step = new_step();
  session_step_ordered(step, NULL, (StepHow){.host_knows = true});
  session_send(EVENT_STEP, &(EventStep){.number = step,
                                        .kind = STEP_COPY,
                                        .recorded = 1,
                                        .device = (uint64_t)device,
                                        .time_ns = clock_ns(),
                                        .call = "initial value of a variable",
                                        .direction = STEP_TO_DEVICE,
                                        .to = base,
                                        .from = (uintptr_t)bytes,
                                        .width = n,
                                        .height = 1,
                                        .depth = 1,
                                        .to_pitch = n,
                                        .to_rows = 1,
                                        .from_pitch = n,
                                        .from_rows = 1,
                                        .stack = session_stack()});
  channel_contents(step, base, bytes, n);
}

uint32_t session_step_number(const SessionCopy *c) {
  uint32_t step = session_wants_steps() ? new_step() : 0;
  if (step && c)
    session_step_ordered(step, c->stream, (StepHow){.host_knows = session_order_host_waits(c)});
  return step;
}

void session_step_inputs(const SessionInputs *in) {
  session_step_ordered(in->step, in->stream, (StepHow){0});
  session_send(EVENT_STEP, &(EventStep){.number = in->step,
                                        .kind = STEP_INPUTS,
                                        .launch = in->launch,
                                        .value = in->since,
                                        .recorded = !in->disturbed,
                                        .stream = (uintptr_t)in->stream,
                                        .device = (uint64_t)in->device,
                                        .time_ns = clock_ns()});
}

void session_step_copy(const SessionCopy *c) {
  if (!session_wants_steps() || !c->step || !c->width || !c->height || !c->depth) return;
  Side to = side_of(c, &c->to), from = c->is_set ? (Side){0} : side_of(c, &c->from);
  if (from.array && !to.host) session_trace_unknown();
  uint64_t direction = to.array || from.array ? STEP_WITH_ARRAY
                                              : (from.host ? 1u : 0u) | (to.host ? 2u : 0u);
  session_send(
      EVENT_STEP,
      &(EventStep){.number = c->step,
                   .kind = c->is_set ? STEP_SET : STEP_COPY,
                   .recorded = session_wants_inputs() ? c->on_host : !to.array && !from.array,
                   .stream = (uintptr_t)c->stream,
                   .device = (uint64_t)c->device,
                   .time_ns = clock_ns(),
                   .call = c->call,
                   .direction = direction,
                   .to = to.first,
                   .from = from.first,
                   .width = c->width,
                   .height = c->height,
                   .depth = c->depth,
                   .to_pitch = to.pitch,
                   .to_rows = to.pitch ? to.slice / to.pitch : 0,
                   .from_pitch = from.pitch,
                   .from_rows = from.pitch ? from.slice / from.pitch : 0,
                   .value = c->value,
                   .value_bytes = c->value_bytes,
                   .stack = c->stack ? c->stack : session_stack()});
}

void session_step_rows(const SessionCopy *c) {
  Side to = side_of(c, &c->to), from = side_of(c, &c->from);
  send_rows(c, &to, &from);
}

void session_step_contents(const SessionCopy *c) {
  if (c->on_host && c->step) session_inputs_contents(c);
  if (!session_wants_trace() || !c->step || !c->width || !c->height || !c->depth) return;
  Side to = side_of(c, &c->to), from = c->is_set ? (Side){0} : side_of(c, &c->from);
  if (to.host || to.array) return;
  if (c->is_set) send_set(c, &to);
  else if (from.readable && !from.array) send_rows(c, &to, &from);
}
