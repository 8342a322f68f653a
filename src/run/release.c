// The end of a process: moves everything its findings refer to into the run and frees the rest. So
// a run of thousands of processes needs memory only for running processes and for findings.
#include "run/internal.h"

// Copies that the run already has, by the original's address: findings share stacks and sites.
typedef struct Kept {
  Run *run;
  U64Map copies;
} Kept;

static RunStack *keep_stack(Kept *k, RunStack *s) {
  if (!s) return NULL;
  RunStack *copy = u64map_get(&k->copies, (uintptr_t)s);
  if (copy) return copy;
  uint32_t n;
  const RunFrame *frames = run_stack_frames(k->run, s, &n);  // before its symbols are freed
  copy = ARENA_NEW(&k->run->arena, RunStack);
  *copy = *s;
  copy->addresses = NULL;
  copy->naddresses = 0;
  copy->symbols = NULL;
  copy->frames = ARENA_ARRAY(&k->run->arena, RunFrame, n);
  if (n) memcpy(copy->frames, frames, n * sizeof *frames);
  u64map_put(&k->copies, (uintptr_t)s, copy);
  return copy;
}

static RunSite *keep_site(Kept *k, RunSite *s) {
  if (!s) return NULL;
  RunSite *copy = u64map_get(&k->copies, (uintptr_t)s);
  if (copy) return copy;
  copy = ARENA_NEW(&k->run->arena, RunSite);
  *copy = *s;
  copy->places = ARENA_ARRAY(&k->run->arena, RunPlace, s->nplaces);
  if (s->nplaces) memcpy(copy->places, s->places, s->nplaces * sizeof *s->places);
  u64map_put(&k->copies, (uintptr_t)s, copy);
  return copy;
}

// A finding's allocations and launch are its own copies already; the objects they point to are not.
static void keep_allocation(Kept *k, const RunAllocation *kept) {
  RunAllocation *a = (RunAllocation *)kept;
  if (!a) return;
  a->stack = keep_stack(k, a->stack);
  a->free_stack = keep_stack(k, a->free_stack);
}

static void keep_finding(Kept *k, RunFinding *f) {
  f->site = keep_site(k, f->site);
  f->origin = keep_site(k, f->origin);
  f->source = keep_site(k, f->source);
  f->stack = keep_stack(k, f->stack);
  f->other_stack = keep_stack(k, f->other_stack);
  if (f->launch) ((RunLaunch *)f->launch)->stack = keep_stack(k, f->launch->stack);
  keep_allocation(k, f->allocation);
  if (f->inside != f->allocation) keep_allocation(k, f->inside);
}

static void forget_explanations(Run *r, const RunProcess *p) {
  uint32_t left = 0;
  for (uint32_t i = 0; i < r->explanations.len; i++)
    if (r->explanations.data[i]->process != p)
      r->explanations.data[left++] = r->explanations.data[i];
  r->explanations.len = left;
}

// A recording names the program's buffers.
static void name_allocation(Run *r, RunAllocation *a) {
  if (!a->name && !a->pointer && (a->pointer = run_pointer_name(r, a->stack)))
    run_save_allocation(r, a);
  run_save_buffer_type(r, a);
}

static void describe_kernels(Run *r, RunProcess *p) {
  uint32_t it = 0;
  uint64_t number;
  void *k;
  while (u64map_next(&p->kernels, &it, &number, &k)) {
    run_save_kernel_types(r, k);
    run_save_variables(r, k);
  }
}

// The rows of a run file that are complete only when the process has ended.
static void save_rest(Run *r, RunProcess *p) {
  uint32_t it = 0, n;
  uint64_t id;
  void *x;
  while (u64map_next(&p->stacks, &it, &id, &x)) {
    run_stack_frames(r, x, &n);
    // ask again: some names become certain only when all calls of their line are known
    if (!((RunStack *)x)->pointer) ((RunStack *)x)->pointer_asked = false;
  }
  it = 0;
  while (r->trace && u64map_next(&p->live, &it, &id, &x)) name_allocation(r, x);
  for (uint64_t k = 0; r->trace && k < MIN(p->nfreed, (uint64_t)RUN_FREED_KEPT); k++)
    name_allocation(r, p->freed[k]);
  if (r->trace) describe_kernels(r, p);
}

static void free_contents(RunProcess *p) {
  u64map_free_all(&p->live);
  U64Map *maps[] = {&p->strings, &p->stacks, &p->modules,     &p->kernels,
                    &p->sites,   &p->found,  &p->open_devices};
  for (size_t i = 0; i < ARRAY_LEN(maps); i++) u64map_free(maps[i]);
  for (uint64_t i = 0; i < MIN(p->nfreed, (uint64_t)RUN_FREED_KEPT); i++) free(p->freed[i]);
  free(p->freed);
  free(p->launches);
  p->freed = NULL;
  p->launches = NULL;
  p->nfreed = p->nlaunches = 0;
  for (uint32_t i = 0; i < p->tables.len; i++) symbol_table_free(p->tables.data[i]);
  vec_free(&p->tables);
  p->symbols = NULL;
  vec_free(&p->objects);
  vec_free(&p->findings);
  arena_free(&p->arena);
}

void run_release_process(Run *r, RunProcess *p) {
  Kept kept = {.run = r};
  if (r->file) save_rest(r, p);
  for (uint32_t i = 0; i < p->findings.len; i++) keep_finding(&kept, p->findings.data[i]);
  u64map_free(&kept.copies);
  forget_explanations(r, p);
  uint32_t it = 0;
  uint64_t number;
  void *k;
  while (u64map_next(&p->kernels, &it, &number, &k)) {
    ((RunKernel *)k)->parameters = NULL;
    str_free(&((RunKernel *)k)->code);
    str_free(&((RunKernel *)k)->frames);
  }
  free_contents(p);
}

void run_free_process(RunProcess *p) {
  run_outputs_free(p);
  run_free_uncommitted(p);
  free_contents(p);
}
