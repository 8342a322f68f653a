// --record: what happened on the device, in the order the program asked for it.
#include "run/internal.h"

static const RunLaunch *launch_of(const RunProcess *p, uint64_t number) {
  uint64_t kept = MIN(p->nlaunches, (uint64_t)RUN_LAUNCHES_KEPT);
  for (uint64_t i = 0; i < kept; i++) {
    const RunLaunch *l = &p->launches[(p->nlaunches - 1 - i) % RUN_LAUNCHES_KEPT];
    if (l->number == number) return l;
  }
  return NULL;
}

void run_save_step(Run *r, RunProcess *p, const EventStep *e) {
  static const char *const kinds[] = {"launch", "copy", "set", "graph", "inputs"};
  static const char *const directions[] = {"on-device", "to-device", "to-host", "on-host", "array"};
  const char *kind = e->kind < ARRAY_LEN(kinds) ? kinds[e->kind] : "?", *direction = e->direction < ARRAY_LEN(directions) ? directions[e->direction] : "?";
  const RunStack *stack = u64map_get(&p->stacks, e->stack);
  const RunLaunch *l = e->kind == STEP_LAUNCH || e->kind == STEP_GRAPH || e->kind == STEP_INPUTS ? launch_of(p, e->launch) : NULL;
  if (e->kind == STEP_LAUNCH && l) stack = l->stack;
  bool copies = e->kind == STEP_COPY, sets = e->kind == STEP_SET;
#define N(x) ((int64_t)(x))
  if (copies || sets)
    run_save(r, TABLE_step, "iiitiiiiittiiiiiiiiiiii", N(++r->last_id), N(p->id), N(e->number), kind, N(0), N(e->recorded), N(e->stream), N(e->device), N(e->time_ns), e->call,
             copies ? direction : NULL, N(e->to), N(e->from), N(e->width), N(e->height), N(e->depth), N(e->to_pitch), N(e->to_rows), N(e->from_pitch), N(e->from_rows), N(e->value),
             N(e->value_bytes), N(stack ? stack->id : 0));
  else if (e->kind == STEP_INPUTS)
    run_save(r, TABLE_step, "iiitiiiii-----------i-i", N(++r->last_id), N(p->id), N(e->number), kind, N(l ? l->id : 0), N(e->recorded), N(e->stream), N(e->device), N(e->time_ns), N(e->value),
             N(stack ? stack->id : 0));
  else
    run_save(r, TABLE_step, "iiitiiiii-------------i", N(++r->last_id), N(p->id), N(e->number), kind, N(l ? l->id : 0), N(e->recorded), N(e->stream), N(e->device), N(e->time_ns),
             N(stack ? stack->id : 0));
}

void run_save_step_after(Run *r, const RunProcess *p, const EventStepAfter *e) {
  for (uint64_t i = 0; i < e->after_count; i++) run_save(r, TABLE_step_after, "iiii", N(p->id), N(e->step), N(e->after[i]), N(e->joins));
}

void run_save_benign_race(Run *r, const RunProcess *p, const EventBenignRace *e) { run_save(r, TABLE_benign_race, "iiii", N(p->id), N(e->step), N(e->address), N(e->bytes)); }

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
  const RunAllocation *a = e->bytes == 8 && e->value_count ? pointed_to(p, e->value[0]) : NULL;
  if (!l) return;
  run_save(r, TABLE_parameter, "iitibi", N(l->id), N(e->number), run_launch_parameter_name(r, u64map_get(&p->kernels, l->kernel), (uint32_t)e->number), N(e->bytes), (const void *)e->value, (size_t)MIN(e->bytes, e->value_count * 8), N(a ? a->id : 0));
}
