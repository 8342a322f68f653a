// --record: the steps of a run. Launches, copies and sets are numbered in the order in which the
// program asks for them; copies from the host and sets are sent with the bytes they write.
#include "tools/record/host.h"

static _Atomic uint32_t last_step;

uint32_t record_last_step(void) { return last_step; }

uint32_t record_new_step(void) {
  return atomic_fetch_add_explicit(&last_step, 1, memory_order_relaxed) + 1;
}

// How much of the thread's last launch is recorded; none is numbered 0.
static _Thread_local struct {
  uint32_t launch;
  Recorded extent;
} recorded;

void record_set_extent(uint32_t launch, Recorded extent) {
  recorded.launch = launch;
  recorded.extent = extent;
}

static Recorded extent_of(uint32_t launch) {
  return recorded.launch == launch ? recorded.extent : RECORDED_IN_PART;
}

// --- launches ---

enum { PARAMETER_WORDS = CHANNEL_LIST_MAX / 8 };

// Returns how many words the parameter has; 0: its value is not known.
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

static void send_parameters(const SessionCall *c) {
  size_t offset, size;
  for (uint32_t i = 0; c->info && c->info(c->user, i, &offset, &size); i++) {
    uint64_t words[PARAMETER_WORDS];
    uint32_t n = read_parameter(c->params, i, offset, size, words);
    session_send(EVENT_PARAMETER, &(EventParameter){c->number, i, size, words, n});
  }
}

// --- launches of graphs: a step each time they run ---

typedef struct Captured {
  SessionLaunch launch;
  Recorded recorded;
  VEC(EventParameter) parameters;
} Captured;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static U64Map captured;  // launch number -> Captured; kept, since a graph may live for ever

static void remember(const SessionCall *call, Recorded extent) {
  Captured *c = mem_alloc(sizeof *c);
  size_t offset, size;
  c->launch = *call->launch;
  c->recorded = extent;
  for (uint32_t i = 0; call->info && call->info(call->user, i, &offset, &size); i++) {
    uint64_t *words = mem_alloc((size + 7) / 8 * 8 + 8);
    uint32_t n = read_parameter(call->params, i, offset, size, words);
    vec_push(&c->parameters, ((EventParameter){0, i, size, words, n}));
  }
  pthread_mutex_lock(&lock);
  u64map_put(&captured, call->number, c);
  pthread_mutex_unlock(&lock);
}

static void send_launch_step(const SessionLaunch *l, uint32_t step, uint32_t number,
                             Recorded extent) {
  session_send(EVENT_STEP, &(EventStep){.number = step,
                                        .kind = STEP_LAUNCH,
                                        .launch = number,
                                        .recorded = extent,
                                        .stream = (uintptr_t)l->stream,
                                        .device = (uint64_t)l->device,
                                        .time_ns = clock_ns()});
}

// Each execution gets a launch number of its own, by which its operations are recorded.
void record_captured_launch(ToolDevice *d, ToolLaunch *l) {
  if (!record_options.operations) return;
  pthread_mutex_lock(&lock);
  const Captured *c = u64map_get(&captured, l->record->launch);
  pthread_mutex_unlock(&lock);
  if (!c) return;
  uint32_t number = session_launch_number(&c->launch), step = record_new_step();
  // before the step: a file that has the step then has its parameters, too
  for (uint32_t i = 0; i < c->parameters.len; i++) {
    EventParameter e = c->parameters.data[i];
    e.launch = number;
    session_send(EVENT_PARAMETER, &e);
  }
  record_order_step(step, c->launch.stream, (StepHow){0});
  send_launch_step(&c->launch, step, number, c->recorded);
  l->record->launch = number;
}

static StepHow how_ordered(const SessionLaunch *l) {
  const WovenKernel *code = l->kernel ? session_kernel_code(l->kernel) : NULL;
  return (StepHow){.overlaps = l->overlaps && !(code && code->waits_for_launch),
                   .host_knows = code && code->tells_host};
}

void record_launch_taken(const SessionCall *c) {
  const SessionLaunch *l = c->launch;
  Recorded extent = extent_of(c->number);
  if (extent != RECORDED_ALL || l->captured) record_unknown_contents();
  if (l->captured) {
    if (record_options.operations) remember(c, extent);
    return;
  }
  uint32_t step = record_new_step();
  record_kernel_launched(c);
  // before the step: a file that has the step then has its parameters, too
  send_parameters(c);
  record_order_step(step, l->stream, how_ordered(l));
  send_launch_step(l, step, c->number, extent);
  record_inputs_launch_taken();
}

void record_launch_ran(uint32_t launch, const SessionTimes *t) {
  session_send(EVENT_LAUNCH_TIME, &(EventLaunchTime){launch, t->begin, t->end});
}

// --- copies and sets ---

static bool is_host_kind(SessionMemoryKind kind) {
  return kind == SESSION_PINNED || kind == SESSION_REGISTERED;
}

// One end of a copy. readable: by the host.
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

void record_variable_loaded(const SessionVariable *v) {
  if (!record_options.operations) return;
  uint32_t step = record_new_step();
  record_order_step(step, NULL, (StepHow){.host_knows = true});
  session_send(EVENT_STEP, &(EventStep){.number = step,
                                        .kind = STEP_COPY,
                                        .recorded = 1,
                                        .device = (uint64_t)v->device,
                                        .time_ns = clock_ns(),
                                        .call = "initial value of a variable",
                                        .direction = STEP_TO_DEVICE,
                                        .to = v->base,
                                        .from = (uintptr_t)v->bytes,
                                        .width = v->size,
                                        .height = 1,
                                        .depth = 1,
                                        .to_pitch = v->size,
                                        .to_rows = 1,
                                        .from_pitch = v->size,
                                        .from_rows = 1,
                                        .stack = session_stack()});
  channel_contents(step, v->base, v->bytes, v->size);
}

uint32_t record_copy_number(const SessionCopy *c) {
  uint32_t step = record_new_step();
  record_order_step(step, c->stream, (StepHow){.host_knows = session_order_host_waits(c)});
  return step;
}

void record_inputs_told(const SessionInputs *in) {
  record_order_step(in->step, in->stream, (StepHow){0});
  session_send(EVENT_STEP, &(EventStep){.number = in->step,
                                        .kind = STEP_INPUTS,
                                        .launch = in->launch,
                                        .value = in->since,
                                        .recorded = !in->disturbed,
                                        .stream = (uintptr_t)in->stream,
                                        .device = (uint64_t)in->device,
                                        .time_ns = clock_ns()});
}

void record_copy_taken(const SessionCopy *c) {
  if (!c->step || !c->width || !c->height || !c->depth) return;
  Side to = side_of(c, &c->to), from = c->is_set ? (Side){0} : side_of(c, &c->from);
  if (from.array && !to.host) record_unknown_contents();
  uint64_t direction = to.array || from.array ? STEP_WITH_ARRAY
                                              : (from.host ? 1u : 0u) | (to.host ? 2u : 0u);
  session_send(
      EVENT_STEP,
      &(EventStep){.number = c->step,
                   .kind = c->is_set ? STEP_SET : STEP_COPY,
                   .recorded = record_options.inputs ? c->on_host : !to.array && !from.array,
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

void record_copied_rows(const SessionCopy *c) {
  Side to = side_of(c, &c->to), from = side_of(c, &c->from);
  send_rows(c, &to, &from);
}

void record_copy_contents(const SessionCopy *c) {
  if (c->on_host && c->step) record_inputs_copy_contents(c);
  if (!record_options.operations || !c->step || !c->width || !c->height || !c->depth) return;
  Side to = side_of(c, &c->to), from = c->is_set ? (Side){0} : side_of(c, &c->from);
  if (to.host || to.array) return;
  if (c->is_set) send_set(c, &to);
  else if (from.readable && !from.array) send_rows(c, &to, &from);
}
