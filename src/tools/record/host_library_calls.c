// --record: calls of CUDA's mathematical libraries, as steps. A call is a copy to the host for each
// operand that it reads, then a copy to the device for each one that it writes, so that values
// which a kernel uses later can be traced back to the call. The bytes it wrote are kept when it has
// run.
#include "tools/record/host.h"

typedef struct CallSteps {
  uint32_t writes[LIBRARY_OPERANDS];  // the step that writes this operand; 0: none does
} CallSteps;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static U64Map calls;  // LibraryCall -> CallSteps

// Matrices of a batch are slices of one box, if their distance is a number of columns.
static bool is_box(const Operand *o) {
  return o->batch == 1 || (o->pitch && o->slice && o->slice % o->pitch == 0);
}

static uint32_t send_operand(const LibraryCall *c, const Operand *o, bool reads) {
  uint32_t step = record_new_step();
  uint64_t width = o->rows * o->element, pitch = o->columns > 1 || o->batch > 1 ? o->pitch : width,
           rows = o->batch > 1 ? o->slice / o->pitch : o->columns;
  char call[160];
  snprintf(call, sizeof call, "library %.96s %s %.32s", c->name, reads ? "reads" : "writes",
           o->name);
  record_order_step(step, c->stream, (StepHow){.host_knows = c->waits});
  session_send(EVENT_STEP, &(EventStep){.number = step,
                                        .kind = STEP_COPY,
                                        .recorded = 1,
                                        .stream = (uintptr_t)c->stream,
                                        .device = (uint64_t)c->device,
                                        .time_ns = clock_ns(),
                                        .call = call,
                                        .direction = reads ? STEP_TO_HOST : STEP_TO_DEVICE,
                                        .to = reads ? 0 : o->address,
                                        .from = reads ? o->address : 0,
                                        .width = width,
                                        .height = o->columns,
                                        .depth = o->batch,
                                        .to_pitch = pitch,
                                        .to_rows = rows,
                                        .from_pitch = pitch,
                                        .from_rows = rows,
                                        .stack = c->stack});
  return step;
}

// Operands that a call finds through pointers are not known before it runs: values that later
// launches read there are recorded.
static bool finds_operands(const LibraryCall *c) {
  return strstr(c->name, "Batched") && !strstr(c->name, "Strided");
}

void record_library_asked(LibraryCall *c, SessionDevice *on) {
  (void)on;
  if (!record_options.operations) return;
  if (c->captured || finds_operands(c)) record_unknown_contents();
  if (c->captured) return;
  CallSteps *s = mem_alloc(sizeof *s);
  for (uint32_t i = 0; i < c->noperands; i++)
    if (c->operands[i].access & OPERAND_READ && is_box(&c->operands[i]))
      send_operand(c, &c->operands[i], true);
  for (uint32_t i = 0; i < c->noperands; i++) {
    if (!(c->operands[i].access & OPERAND_WRITE)) continue;
    if (is_box(&c->operands[i])) s->writes[i] = send_operand(c, &c->operands[i], false);
    else record_unknown_contents();
  }
  pthread_mutex_lock(&lock);
  u64map_put(&calls, (uintptr_t)c, s);
  pthread_mutex_unlock(&lock);
}

static CallSteps *steps_of(const LibraryCall *c) {
  pthread_mutex_lock(&lock);
  CallSteps *s = u64map_get(&calls, (uintptr_t)c);
  pthread_mutex_unlock(&lock);
  return s;
}

static void send_contents(uint32_t step, const Operand *o) {
  uint64_t width = o->rows * o->element;
  for (uint64_t b = 0; b < o->batch; b++) {
    uint64_t at = o->address + b * o->slice;
    bool dense = o->columns == 1 || o->pitch == width;
    for (uint64_t j = 0; j < (dense ? 1 : o->columns); j++)
      channel_contents(step, at + j * o->pitch, (const void *)(uintptr_t)(at + j * o->pitch),
                       dense ? width * o->columns : width);
  }
}

void record_library_ran(const LibraryCall *c) {
  const CallSteps *s = steps_of(c);
  for (uint32_t i = 0; s && i < c->noperands; i++)
    if (s->writes[i]) send_contents(s->writes[i], &c->operands[i]);
}

void record_library_done(const LibraryCall *c) {
  pthread_mutex_lock(&lock);
  CallSteps *s = u64map_remove(&calls, (uintptr_t)c);
  pthread_mutex_unlock(&lock);
  free(s);
}
