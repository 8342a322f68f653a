// --record: the operations on the device, in the order of the program's calls.
#include "run/internal.h"
#include "trace/trace.h"

static const RunLaunch *launch_of(const RunProcess *p, uint64_t number) {
  uint64_t kept = MIN(p->nlaunches, (uint64_t)RUN_LAUNCHES_KEPT);
  for (uint64_t i = 0; i < kept; i++) {
    const RunLaunch *l = &p->launches[(p->nlaunches - 1 - i) % RUN_LAUNCHES_KEPT];
    if (l->number == number) return l;
  }
  return NULL;
}

// --- when steps are committed ---
//
// A step with operations or pages is first written with `committed` and `recorded` 0. Both are set
// in the transaction that saves the last of these, so that a file that is cut short never claims
// data it does not have.

static void *pack(int64_t id, uint64_t recorded) {
  return (void *)(uintptr_t)((uint64_t)id << 2 | (recorded & 3));
}

static bool is_awaited(const Run *r, const EventStep *e) {
  if (!r->trace || !r->file) return false;
  if (!r->records_inputs) return e->kind == STEP_LAUNCH;
  return e->kind == STEP_INPUTS || (e->kind == STEP_COPY && e->recorded);
}

// A step may be complete before its row arrives: both come from different rings.
static uint64_t early_key(bool inputs, uint64_t number) { return (uint64_t)inputs << 32 | number; }

static void await(Run *r, RunProcess *p, const EventStep *e, int64_t id) {
  uint64_t number = r->records_inputs ? e->number : e->launch;
  if (u64map_remove(&p->uncommitted.early, early_key(r->records_inputs, number)))
    run_commit_step(r, id, (int64_t)e->recorded);
  else
    u64map_put(r->records_inputs ? &p->uncommitted.inputs : &p->uncommitted.launches, number,
               pack(id, e->recorded));
}

void run_commit_steps(Run *r) {
  TraceComplete c;
  while (trace_take_complete(r->trace, &c)) {
    RunProcess *p = c.process && c.process <= r->processes.len ? r->processes.data[c.process - 1]
                                                               : NULL;
    if (!p || p->uncommitted.lost) continue;
    uintptr_t packed = (uintptr_t)u64map_remove(
        c.inputs ? &p->uncommitted.inputs : &p->uncommitted.launches, c.number);
    if (packed) run_commit_step(r, (int64_t)(packed >> 2), (int64_t)(packed & 3));
    else u64map_put(&p->uncommitted.early, early_key(c.inputs, c.number), p);
  }
}

void run_launch_drained(Run *r, RunProcess *p, uint32_t launch) {
  if (!r->trace || r->records_inputs) return;
  if (launch) {
    trace_launch_ended(r->trace, p->id, launch);
    return;
  }
  uint32_t it = 0;
  uint64_t number;
  void *packed;
  while (u64map_next(&p->uncommitted.launches, &it, &number, &packed))
    trace_launch_ended(r->trace, p->id, (uint32_t)number);
}

void run_uncommit_steps(Run *r, RunProcess *p) {
  if (!r->trace) return;
  p->uncommitted.lost = true;
  run_uncommit_process(r, p->id);
}

void run_free_uncommitted(RunProcess *p) {
  u64map_free(&p->uncommitted.launches);
  u64map_free(&p->uncommitted.inputs);
  u64map_free(&p->uncommitted.early);
}

void run_save_step(Run *r, RunProcess *p, const EventStep *e) {
  static const char *const kinds[] = {"launch", "copy", "set", "graph", "inputs"};
  static const char *const directions[] = {"on-device", "to-device", "to-host", "on-host", "array"};
  const char *kind = e->kind < ARRAY_LEN(kinds) ? kinds[e->kind] : "?",
             *direction = e->direction < ARRAY_LEN(directions) ? directions[e->direction] : "?";
  const RunStack *stack = u64map_get(&p->stacks, e->stack);
  const RunLaunch *l = e->kind == STEP_LAUNCH || e->kind == STEP_GRAPH || e->kind == STEP_INPUTS
                           ? launch_of(p, e->launch)
                           : NULL;
  if (e->kind == STEP_LAUNCH && l) stack = l->stack;
  bool copies = e->kind == STEP_COPY, sets = e->kind == STEP_SET, awaited = is_awaited(r, e);
  int64_t id = ++r->last_id;
  uint64_t recorded = awaited ? 0 : e->recorded;
#define N(x) ((int64_t)(x))
  if (copies || sets)
    run_save(r, TABLE_step, "iiitiiiiittiiiiiiiiiiiii", id, N(p->id), N(e->number), kind, N(0),
             N(recorded), N(e->stream), N(e->device), N(e->time_ns), e->call,
             copies ? direction : NULL, N(e->to), N(e->from), N(e->width), N(e->height),
             N(e->depth), N(e->to_pitch), N(e->to_rows), N(e->from_pitch), N(e->from_rows),
             N(e->value), N(e->value_bytes), N(stack ? stack->id : 0), N(!awaited));
  else if (e->kind == STEP_INPUTS)
    run_save(r, TABLE_step, "iiitiiiii-----------i-ii", id, N(p->id), N(e->number), kind,
             N(l ? l->id : 0), N(recorded), N(e->stream), N(e->device), N(e->time_ns), N(e->value),
             N(stack ? stack->id : 0), N(!awaited));
  else
    run_save(r, TABLE_step, "iiitiiiii-------------ii", id, N(p->id), N(e->number), kind,
             N(l ? l->id : 0), N(recorded), N(e->stream), N(e->device), N(e->time_ns),
             N(stack ? stack->id : 0), N(!awaited));
  if (awaited) await(r, p, e, id);
}

void run_save_step_after(Run *r, const RunProcess *p, const EventStepAfter *e) {
  for (uint64_t i = 0; i < e->after_count; i++)
    run_save(r, TABLE_step_after, "iiii", N(p->id), N(e->step), N(e->after[i]), N(e->joins));
}

void run_save_benign_race(Run *r, const RunProcess *p, const EventBenignRace *e) {
  run_save(r, TABLE_benign_race, "iiii", N(p->id), N(e->step), N(e->address), N(e->bytes));
}

// A size with its letter: "4s"
static void add_size(Str *s, uint64_t size) {
  char letter = (char)(size >> 16 & 0xff);
  str_printf(s, "%llu", (unsigned long long)(size & 0xffff));
  if (letter >= 'a' && letter <= 'z') str_addc(s, letter);
}

// "4s,4f=4s": parameters, then the result if there is one
void run_save_interrupt(Run *r, const RunProcess *p, const EventInterrupt *e) {
  const RunLaunch *l = launch_of(p, e->launch);
  Str bytes = {0};
  for (uint64_t i = 0; i < e->param_bytes_count; i++) {
    if (i) str_addc(&bytes, ',');
    add_size(&bytes, e->param_bytes[i]);
  }
  if (e->result_bytes) {
    str_addc(&bytes, '=');
    add_size(&bytes, e->result_bytes);
  }
  run_save(r, TABLE_interrupt, "iiiiit", N(p->id), N(e->step), N(l ? l->id : 0), N(e->callers),
           N(e->result_bytes & 0xffff), bytes.len ? bytes.data : "");
  str_free(&bytes);
}

void run_save_interrupt_caller(Run *r, const RunProcess *p, const EventInterruptCaller *e) {
  run_save(r, TABLE_interrupt_caller, "iiiitibb", N(p->id), N(e->step), N(e->number), N(e->thread),
           e->file, N(e->line), (const void *)e->arguments, (size_t)(8 * e->arguments_count),
           (const void *)e->result, (size_t)(8 * e->result_count));
}

// A kernel that resumes after interrupts is named after the kernel that called them.
const char *run_kernel_name(Run *r, const char *name) {
  static const char prefix[] = "__wgint_resume_";
  if (strncmp(name, prefix, sizeof prefix - 1) != 0) return run_readable_name(r, name);
  Str s = {0};
  str_printf(&s, "resumed %s", run_readable_name(r, name + sizeof prefix - 1));
  const char *out = run_text(r, s.data);
  str_free(&s);
  return out;
}

void run_save_launch_time(Run *r, RunProcess *p, const EventLaunchTime *e) {
  const RunLaunch *l = launch_of(p, e->launch);
  if (l) run_save(r, TABLE_launch_time, "iii", N(l->id), N(e->begin_ns), N(e->end_ns));
}

// The allocation that a parameter of 8 bytes points into.
static const RunAllocation *pointed_to(const RunProcess *p, uint64_t pointer) {
  uint32_t it = 0;
  uint64_t base;
  void *a;
  while (u64map_next(&p->live, &it, &base, &a))
    if (pointer - base < ((const RunAllocation *)a)->size) return a;
  return NULL;
}

void run_save_parameter(Run *r, RunProcess *p, const EventParameter *e) {
  const RunLaunch *l = launch_of(p, e->launch);
  RunKernel *k = l ? u64map_get(&p->kernels, l->kernel) : NULL;
  RunAllocation *a = NULL;
  for (uint64_t i = 0; k && i < e->value_count && 8 * (i + 1) <= e->bytes; i++) {
    if (e->value[i] < p->lowest || e->value[i] >= p->highest) continue;
    RunAllocation *in = (RunAllocation *)pointed_to(p, e->value[i]);
    if (in) run_note_given(in, k, (uint32_t)e->number, (uint32_t)(8 * i));
    if (e->bytes == 8) a = in;
  }
  if (!l) return;
  run_save(r, TABLE_parameter, "iitibi", N(l->id), N(e->number),
           run_launch_parameter_name(r, u64map_get(&p->kernels, l->kernel), (uint32_t)e->number),
           N(e->bytes), (const void *)e->value, (size_t)MIN(e->bytes, e->value_count * 8),
           N(a ? a->id : 0));
}
