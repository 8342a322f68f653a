// Rounds: the kernel has left threads suspended; gather them, call the handlers, launch the second
// kernel, until none is left.
#include "interrupt/interrupt.h"
#include "interrupt/watch.h"

#include "../include/warpgrind.h"

#include <stdatomic.h>

// --- what a launch needs ---

static size_t round_up(size_t n) { return (n + 255) / 256 * 256; }

InterruptMemory interrupt_memory(const InterruptKernel *k) {
  return (InterruptMemory){.caller = k->place_bytes + 4,  // its number in the list of callers
                           .thread = k->local_bytes,
                           .stopped = k->saves_blocks ? k->block_bytes : 0};
}

// Groups of places that suffice if all threads of so many warps are suspended: each counter gets as
// many as the fullest one needs.
static size_t place_groups(size_t warps) {
  enum { EXACT = 4096, FULLER = 16 };  // the fullest of all has less than 16 above the mean
  uint32_t counts[PLACE_COUNTERS] = {0}, most = 0;
  if (warps > EXACT) return (warps / PLACE_COUNTERS + FULLER) * PLACE_COUNTERS;
  for (uint32_t w = 0; w < warps; w++) {
    uint32_t n = ++counts[w * PLACE_COUNTER_HASH >> PLACE_COUNTER_SHIFT];
    most = MAX(most, n);
  }
  return (size_t)most * PLACE_COUNTERS;
}

bool interrupt_sizes(const InterruptKernel *k, const InterruptShape *shape, InterruptSizes *s,
                     Error *err) {
  const uint32_t *g = shape->grid, *b = shape->block;
  size_t per_block = (size_t)b[0] * b[1] * b[2];
  double threads = (double)g[0] * g[1] * g[2] * (double)per_block;
  *s = (InterruptSizes){.blocks = (size_t)g[0] * g[1] * g[2], .place_bytes = k->place_bytes};
  if (threads >= 4294967296.0) return interrupt_refuse_threads(k, threads, err);
  memcpy(s->grid, g, sizeof s->grid);
  s->threads = s->blocks * per_block;
  s->block_words = (per_block + 31) / 32;
  s->words = s->blocks * s->block_words;
  s->control = round_up(sizeof(InterruptControl) + 8 * (size_t)k->ncalls);
  s->marks = s->firsts = round_up(s->words * 4);
  s->list = round_up(s->blocks * 4);
  s->stopped = s->slots = k->saves_blocks ? round_up(s->blocks * 4) : 0;
  s->clusters = k->uses_clusters ? round_up(s->blocks * 4) : 0;
  s->workspace = shape->cooperative ? round_up(64) : 0;
  s->locals = round_up(s->threads * k->local_bytes);
  s->fixed = interrupt_zeroed(s) + s->firsts + s->list + s->slots + s->locals;
  s->place_groups = place_groups(s->words);
  s->places = round_up(s->place_groups * 32 * k->place_bytes);
  s->saved_stride = k->saves_blocks ? k->block_bytes + (shape->shared + 15u) / 16 * 16 : 0;
  s->saved = round_up(s->blocks * s->saved_stride);
  s->all = s->fixed + s->places + s->saved;
  return true;
}

void interrupt_follow_nobody(InterruptLaunch *l) {
  l->gate_before = l->control + offsetof(InterruptControl, nobody);
  l->serial_before = 1;
}

// The parts that must be zero at first come first. After `firsts` there is room for a list of
// blocks.
InterruptLaunch interrupt_place(const InterruptSizes *s, uint64_t fixed, uint64_t places,
                                uint64_t saved) {
  InterruptLaunch l = {.control = fixed, .places = places, .saved = saved};
  l.marks = l.control + s->control;
  l.stopped = l.marks + s->marks;
  l.clusters = l.stopped + s->stopped;
  l.workspace = s->workspace ? l.clusters + s->clusters : 0;
  l.firsts = fixed + interrupt_zeroed(s);
  l.slots = l.firsts + s->firsts + s->list;
  l.locals = l.slots + s->slots;
  l.saved_stride = s->saved_stride;
  l.room_places = (uint32_t)MIN(s->place_groups * 32, UINT32_MAX);
  l.room_slots = (uint32_t)s->blocks;
  memcpy(l.grid, s->grid, sizeof l.grid);
  interrupt_follow_nobody(&l);
  return l;
}

size_t interrupt_zeroed(const InterruptSizes *s) {
  return s->control + s->marks + s->stopped + s->clusters + s->workspace;
}

InterruptRun interrupt_run(const InterruptKernel *k, const InterruptShape *shape,
                           const InterruptLaunch *l) {
  const uint32_t *g = shape->grid, *b = shape->block;
  size_t per_block = (size_t)b[0] * b[1] * b[2], block_words = (per_block + 31) / 32;
  static _Atomic uint64_t launches;
  InterruptRun run = {.kernel = k,
                      .number = atomic_fetch_add(&launches, 1) + 1,
                      .shown = k->name,
                      .launch = *l,
                      .words = (size_t)g[0] * g[1] * g[2] * block_words,
                      .block_words = block_words,
                      .block_threads = per_block};
  memcpy(run.grid, g, sizeof run.grid);
  memcpy(run.block, b, sizeof run.block);
  return run;
}

void *interrupt_control(const InterruptRun *run, size_t *at, size_t *bytes) {
  enum { FROM = offsetof(InterruptControl, suspended) };
  uint32_t n = run->kernel->ncalls;
  *at = FROM;
  *bytes = sizeof(InterruptControl) - FROM + n * sizeof *run->results;
  uint8_t *c = mem_alloc(*bytes);
  memset(c, 0, sizeof(InterruptControl) - FROM);
  memcpy(c + sizeof(InterruptControl) - FROM, run->results, n * sizeof *run->results);
  return c;
}

// --- one call of a handler ---

typedef struct Group {  // all calls of one interrupt, in one round
  wg_interrupt pub;     // first: what the handler gets
  const InterruptDevice *device;
  const InterruptRun *run;
  uint32_t first, end;  // calls
  uint64_t numbers, results;
  void *params[INTERRUPT_PARAMS];
  void *host_params[INTERRUPT_PARAMS], *host_results;
  wg_caller *callers;      // those without a text are not described yet
  uint32_t *host_numbers;  // of the callers
  bool ends;
  Error *err;
  bool failed;
} Group;

static bool fails(Group *g, const char *what) {
  if (!g->failed)
    error_set(g->err, "the handler of interrupt %s, called in kernel %s, failed: %s", g->pub.name,
              g->run->shown, what);
  g->failed = true;
  return false;
}

static const void *host_values(wg_interrupt *call, unsigned param) {
  Group *g = (Group *)call;
  if (param >= call->nparams) return NULL;
  if (g->host_params[param]) return g->host_params[param];
  size_t bytes = call->count * call->param_bytes[param];
  g->host_params[param] = g->device->host_alloc(g->device->user, bytes);
  if (!g->host_params[param] || !g->device->read(g->device->user, g->host_params[param],
                                                 (uint64_t)(uintptr_t)g->params[param], bytes))
    fails(g, "the parameters cannot be copied to the host");
  return g->host_params[param];
}

static void *host_results(wg_interrupt *call) {
  Group *g = (Group *)call;
  if (!g->host_results)
    g->host_results = g->device->host_alloc(g->device->user, call->count * call->result_bytes);
  if (!g->host_results) fails(g, "there is no memory for its results");
  return g->host_results;
}

static void describe_caller(const Group *g, uint32_t call, uint32_t number, wg_caller *out) {
  const InterruptCall *c = &g->run->kernel->calls[call];
  const uint32_t *b = g->run->block, *grid = g->run->grid;
  uint32_t per_block = b[0] * b[1] * b[2], thread = number % per_block, block = number / per_block;
  *out = (wg_caller){
      .thread = {thread % b[0], thread / b[0] % b[1], thread / b[0] / b[1]},
      .block = {block % grid[0], block / grid[0] % grid[1], block / grid[0] / grid[1]},
      .index = number,
      .file = c->file,
      .text = c->text,
      .line = c->line};
}

// Describes a caller only when the handler asks for it: it may want one of a million.
static const wg_caller *caller(wg_interrupt *call, size_t i) {
  Group *g = (Group *)call;
  if (i >= call->count) return NULL;
  if (!g->callers) {
    size_t bytes = call->count * sizeof *g->host_numbers;
    g->callers = mem_alloc(call->count * sizeof *g->callers);
    g->host_numbers = g->device->host_alloc(g->device->user, bytes);
    if (!g->host_numbers || !g->device->read(g->device->user, g->host_numbers, g->numbers, bytes))
      fails(g, "the callers cannot be copied to the host");
  }
  if (g->callers[i].text || !g->host_numbers) return &g->callers[i];
  uint32_t c = g->first;
  for (size_t before = 0; i >= before + g->run->counts[c]; c++) before += g->run->counts[c];
  describe_caller(g, c, g->host_numbers[i], &g->callers[i]);
  return &g->callers[i];
}

static const wg_caller *callers(wg_interrupt *call) {
  for (size_t i = call->count; i--;) caller(call, i);
  return ((Group *)call)->callers;
}

static void end_kernel(wg_interrupt *call) { ((Group *)call)->ends = true; }
static void fail_call(wg_interrupt *call, const char *why) { fails((Group *)call, why); }

static int read_device(wg_interrupt *call, void *to, const void *from, size_t n) {
  const InterruptDevice *d = ((Group *)call)->device;
  return d->read(d->user, to, (uint64_t)(uintptr_t)from, n);
}
static int write_device(wg_interrupt *call, void *to, const void *from, size_t n) {
  const InterruptDevice *d = ((Group *)call)->device;
  return d->write(d->user, (uint64_t)(uintptr_t)to, from, n);
}

static int report(wg_interrupt *call, size_t which, const char *text) {
  const Group *g = (const Group *)call;
  const wg_caller *c = caller(call, which);
  if (!c) return 0;
  InterruptFinding f = {.text = text, .file = c->file, .line = c->line};
  memcpy(f.block, c->block, sizeof f.block);
  memcpy(f.thread, c->thread, sizeof f.thread);
  return g->device->report(g->device->user, &f);
}

// Reports a call that was served. Results that a kernel of the handler wrote are read back.
static void tell_served(Group *g) {
  const InterruptDevice *d = g->device;
  const InterruptCall *c = &g->run->kernel->calls[g->first];
  InterruptServed s = {.name = c->name,
                       .count = g->pub.count,
                       .nparams = c->nparams,
                       .result_bytes = c->result_bytes,
                       .param_bytes = c->param_bytes,
                       .param_shown = c->param_shown,
                       .result_shown = c->result_shown,
                       .callers = callers(&g->pub),
                       .results_at = g->host_results ? g->results : 0};
  for (uint32_t i = 0; i < c->nparams; i++) s.params[i] = host_values(&g->pub, i);
  if (c->result_bytes && !g->host_results) {
    void *results = host_results(&g->pub);
    if (results && !d->read(d->user, results, g->results, s.count * c->result_bytes))
      fails(g, "its results cannot be copied to the host");
  }
  s.results = g->host_results;
  if (!g->failed) d->served(d->user, &s);
}

static bool call_handler(Group *g) {
  const InterruptDevice *d = g->device;
  const InterruptCall *c = &g->run->kernel->calls[g->first];
  InterruptHandler h;
  if (!interrupt_find_handler(c->name, &h)) return fails(g, "it is gone");
  HandlerWatch watch = {.name = c->name,
                        .kernel = g->run->shown,
                        .file = c->file,
                        .line = c->line,
                        .count = g->pub.count,
                        // wg_break waits for the user
                        .limit_ns = strcmp(c->name, "wg_break_reached") ? d->limit_ns : 0};
  g->pub.stream = d->enter(d->user);
  handler_begins(&watch);
  h.function(&g->pub, h.user);
  d->leave(d->user);
  handler_ends(&watch);
  if (g->host_results && !g->failed &&
      !d->write(d->user, g->results, g->host_results, g->pub.count * c->result_bytes))
    fails(g, "its results cannot be copied to the device");
  if (d->served && !g->failed) tell_served(g);
  for (uint32_t i = 0; i < c->nparams; i++)
    if (g->host_params[i]) d->host_free(d->user, g->host_params[i]);
  if (g->host_results) d->host_free(d->user, g->host_results);
  if (g->host_numbers) d->host_free(d->user, g->host_numbers);
  free(g->callers);
  return !g->failed;
}

// --- one round ---

typedef struct Round {
  const InterruptDevice *device;
  InterruptRun *run;
  Group *groups;
  uint32_t ngroups;
  uint64_t memory;  // all lists of the round
  uint64_t *lists, *numbers, *results;
  bool ends;
} Round;

static uint64_t take(uint64_t *next, size_t bytes) {
  uint64_t at = *next;
  *next += round_up(bytes);
  return at;
}

// Lists of one group; called with `at` 0 to learn their size.
static uint64_t place_group(Round *r, Group *g, uint64_t at) {
  const InterruptKernel *k = r->run->kernel;
  const InterruptCall *c = &k->calls[g->first];
  g->numbers = take(&at, g->pub.count * 4);
  g->results = c->result_bytes ? take(&at, g->pub.count * c->result_bytes) : 0;
  for (uint32_t p = 0; p < c->nparams; p++)
    g->params[p] = (void *)(uintptr_t)take(&at, g->pub.count * c->param_bytes[p]);
  size_t before = 0;
  for (uint32_t i = g->first; i < g->end; i++) {
    r->numbers[i] = g->numbers + before * 4;
    r->results[i] = g->results;
    r->run->first_rank[i] = (uint32_t)before;
    for (uint32_t p = 0; p < c->nparams; p++)
      r->lists[i * INTERRUPT_PARAMS + p] = (uint64_t)(uintptr_t)g->params[p] +
                                           before * c->param_bytes[p];
    before += r->run->counts[i];
  }
  return at;
}

static void make_groups(Round *r, Error *err) {
  const InterruptKernel *k = r->run->kernel;
  for (uint32_t i = 0; i < k->ncalls;) {
    uint32_t end = i;
    size_t count = 0;
    while (end < k->ncalls && !strcmp(k->calls[end].name, k->calls[i].name))
      count += r->run->counts[end++];
    if (count) {
      Group *g = &r->groups[r->ngroups++];
      *g = (Group){.device = r->device, .run = r->run, .first = i, .end = end, .err = err};
      const InterruptCall *c = &k->calls[i];
      g->pub = (wg_interrupt){.name = c->name,
                              .kernel = r->run->shown,
                              .count = count,
                              .nparams = c->nparams,
                              .param_bytes = c->param_bytes,
                              .params = g->params,
                              .result_bytes = c->result_bytes,
                              .host_values = host_values,
                              .host_results = host_results,
                              .callers = callers,
                              .end_kernel = end_kernel,
                              .fail = fail_call,
                              .read_device = read_device,
                              .write_device = write_device,
                              .report = report,
                              .caller = caller,
                              .launch = r->run->number};
      memcpy(g->pub.grid, r->run->grid, sizeof g->pub.grid);
      memcpy(g->pub.block, r->run->block, sizeof g->pub.block);
    }
    i = end;
  }
}

static bool gather(Round *r, Error *err) {
  const InterruptDevice *d = r->device;
  uint64_t bytes = 0, at;
  for (uint32_t i = 0; i < r->ngroups; i++) bytes = place_group(r, &r->groups[i], bytes);
  r->memory = at = d->alloc(d->user, bytes);
  if (!at)
    return error_set(err,
                     "there is no memory for the %llu bytes of arguments of interrupts that "
                     "kernel %s calls",
                     (unsigned long long)bytes, r->run->shown);
  for (uint32_t i = 0; i < r->ngroups; i++) {
    at = place_group(r, &r->groups[i], at);
    r->groups[i].pub.results = (void *)(uintptr_t)r->groups[i].results;
  }
  r->run->lists = r->lists;
  r->run->numbers = r->numbers;
  return d->gather(d->user, r->run) ||
         error_set(err, "the callers of interrupts in kernel %s cannot be gathered", r->run->shown);
}

static bool serve_groups(Round *r, Error *err) {
  for (uint32_t i = 0; i < r->ngroups; i++) {
    if (!call_handler(&r->groups[i])) return false;
    r->ends |= r->groups[i].ends;
  }
  if (r->ends) return true;
  const InterruptDevice *d = r->device;
  r->run->results = r->results;
  return d->resume(d->user, r->run) ||
         error_set(err, "kernel %s cannot be entered again after its interrupts", r->run->shown);
}

static bool has_stack_left(const InterruptDevice *d, const InterruptRun *run, Error *err) {
  const InterruptKernel *k = run->kernel;
  InterruptControl c;
  if (!k->stack_bytes || !d->read(d->user, &c, run->launch.control, sizeof c) || !c.overflow)
    return true;
  return error_set(err,
                   "functions that call interrupts in kernel %s call each other more deeply than "
                   "the %u bytes of their stack allow",
                   run->shown, k->stack_bytes);
}

// false: no thread was suspended, or err says what is wrong. *lists: of the last round, whose
// results the kernel has read when callers are counted; 0: none
static bool serve_round(const InterruptDevice *d, InterruptRun *run, uint64_t *lists, Error *err) {
  uint32_t n = run->kernel->ncalls;
  Round r = {.device = d, .run = run};
  uint32_t *counts = mem_alloc(n * sizeof *counts);
  uint64_t all = 0;
  bool ok = d->count(d->user, run, counts);
  if (*lists) d->free(d->user, *lists);
  run->counts = counts;
  if (!ok) error_set(err, "kernel %s failed", run->shown);
  ok = ok && has_stack_left(d, run, err);
  for (uint32_t i = 0; i < n && ok; i++) all += counts[i];
  if (all) {
    r.groups = mem_alloc(n * sizeof *r.groups);
    r.lists = mem_alloc((n * INTERRUPT_PARAMS + 2 * n) * sizeof *r.lists);
    r.numbers = r.lists + n * INTERRUPT_PARAMS;
    r.results = r.numbers + n;
    run->first_rank = mem_alloc(n * sizeof *run->first_rank);
    make_groups(&r, err);
    ok = gather(&r, err) && serve_groups(&r, err);
    free(run->first_rank);
    free(r.lists);
    free(r.groups);
  }
  free(counts);
  *lists = r.memory;
  run->ended = r.ends;
  return all && ok && !r.ends;
}

bool interrupt_serve(const InterruptDevice *d, InterruptRun *run, Error *err) {
  uint64_t lists = 0;
  while (serve_round(d, run, &lists, err)) continue;
  if (lists) d->free(d->user, lists);
  return !err->text[0];
}
