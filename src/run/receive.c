// Puts events from the channel into the run. Numbers that a process sends are looked up in that
// process's own tables; an unknown number counts as "none", since a process can send anything.
#include "run/internal.h"

static RunProcess *process_of(Run *r, uint32_t id) {
  return id && id <= r->processes.len ? r->processes.data[id - 1] : NULL;
}

static const char *string_of(RunProcess *p, uint64_t id) { return u64map_get(&p->strings, id); }
static RunStack *stack_of(RunProcess *p, uint64_t id) {
  return id ? u64map_get(&p->stacks, id) : NULL;
}
static int64_t id_of(const RunStack *s) { return s ? (int64_t)s->id : 0; }

static void save_process(Run *r, const RunProcess *p, const char *end, uint64_t lost) {
  run_save(r, TABLE_process, "iiitttti", (int64_t)p->id, (int64_t)p->pid, (int64_t)p->parent,
           p->program, p->arguments, p->device, end, (int64_t)lost);
}

static void opened(void *user, uint32_t id, int pid) {
  Run *r = user;
  RunProcess *p = ARENA_NEW(&r->arena, RunProcess);
  CHECK(id == r->processes.len + 1);
  p->id = id;
  p->pid = pid;
  vec_push(&r->processes, p);
}

// --- one function for each event ---

static void on_Process(Run *r, RunProcess *p, const EventProcess *e) {
  p->parent = (int)e->parent;
  p->program = run_text(r, e->program);
  p->arguments = run_text(r, e->arguments);
  p->device = run_text(r, e->device);
  save_process(r, p, NULL, 0);
}

static void on_End(Run *r, RunProcess *p, const EventEnd *e) { p->ended = true; }

static void on_String(Run *r, RunProcess *p, const EventString *e) {
  if (e->id && e->text) u64map_put(&p->strings, e->id, (void *)run_text(r, e->text));
}

static bool overlaps(const WhereObject *a, const WhereObject *b) {
  return a->start < b->end && b->start < a->end;
}

// If a library is loaded in the place of another, stacks taken before keep the old table.
static void on_Object(Run *r, RunProcess *p, const EventObject *e) {
  WhereObject o = {.path = run_text(r, e->path ? e->path : ""),
                   .start = e->start,
                   .end = e->end,
                   .bias = e->bias};
  o.build_id_len = (uint32_t)MIN(e->build_id_len, sizeof o.build_id);
  memcpy(o.build_id, e->build_id, MIN(sizeof o.build_id, e->build_id_count * 8));
  bool replaces = false;
  for (uint32_t i = 0; i < p->objects.len && !replaces; i++)
    replaces = overlaps(&p->objects.data[i], &o);
  if (!p->symbols || replaces) {
    uint32_t kept = 0;
    p->symbols = symbol_table_new(run_symbols(r));
    vec_push(&p->tables, p->symbols);
    for (uint32_t i = 0; i < p->objects.len; i++)
      if (!overlaps(&p->objects.data[i], &o)) p->objects.data[kept++] = p->objects.data[i];
    p->objects.len = kept;
    for (uint32_t i = 0; i < kept; i++) symbol_table_add(p->symbols, &p->objects.data[i]);
  }
  symbol_table_add(p->symbols, &o);
  vec_push(&p->objects, o);
}

static void on_Stack(Run *r, RunProcess *p, const EventStack *e) {
  RunStack *s = ARENA_NEW(&p->arena, RunStack);
  *s = (RunStack){.id = ++r->last_id,
                  .process = p,
                  .python = run_text(r, e->python),
                  .symbols = p->symbols,
                  .naddresses = (uint32_t)e->frames_count};
  s->addresses = ARENA_ARRAY(&p->arena, uint64_t, e->frames_count);
  memcpy(s->addresses, e->frames, e->frames_count * 8);
  u64map_put(&p->stacks, e->id, s);
  run_save(r, TABLE_stack, "iit", (int64_t)s->id, (int64_t)p->id, s->python);
  run_save_stack(r, s);
}

static void on_Module(Run *r, RunProcess *p, const EventModule *e) {
  RunModule *m = ARENA_NEW(&r->arena, RunModule);
  *m = (RunModule){++r->last_id, p, run_text(r, e->name), run_text(r, e->what), e->hash};
  u64map_put(&p->modules, e->id, m);
  char hash[20];
  snprintf(hash, sizeof hash, "%016llx", (unsigned long long)m->hash);
  run_save(r, TABLE_module, "iittt-", (int64_t)m->id, (int64_t)p->id, m->name, m->what, hash);
}

static void on_Unload(Run *r, RunProcess *p, const EventUnload *e) {
  RunModule *m = u64map_get(&p->modules, e->module);
  if (!m) return;
  char hash[20];
  snprintf(hash, sizeof hash, "%016llx", (unsigned long long)m->hash);
  run_save(r, TABLE_module, "iittti", (int64_t)m->id, (int64_t)p->id, m->name, m->what, hash,
           (int64_t)1);
}

static RunKernel *kernel_of(RunProcess *p, uint64_t id) { return u64map_get(&p->kernels, id); }

static void on_Kernel(Run *r, RunProcess *p, const EventKernel *e) {
  RunKernel *k = ARENA_NEW(&r->arena, RunKernel);
  const char *name = run_text(r, e->name ? e->name : "?");
  *k = (RunKernel){
      .id = ++r->last_id, .process = p, .module = u64map_get(&p->modules, e->module), .name = name};
  k->readable = run_kernel_name(r, name);
  u64map_put(&p->kernels, e->id, k);
  vec_push(&r->kernels, k);
  run_save_kernel(r, k);
}

static void on_Covered(Run *r, RunProcess *p, const EventCovered *e) {
  RunKernel *k = kernel_of(p, e->kernel);
  if (k) k->covered = true;
}

static void on_Uncovered(Run *r, RunProcess *p, const EventUncovered *e) {
  RunKernel *k = kernel_of(p, e->kernel);
  if (!k) return;
  k->reason = run_text(r, e->reason);
  k->cure = run_text(r, e->cure);
}

static void on_Patched(Run *r, RunProcess *p, const EventPatched *e) {
  RunKernel *k = kernel_of(p, e->kernel);
  if (k) k->patched_by = run_text(r, e->tools);
}

static void on_KernelNote(Run *r, RunProcess *p, const EventKernelNote *e) {
  RunKernel *k = kernel_of(p, e->kernel);
  if (k) k->note = run_text(r, e->text);
}

static RunPlace *places_of(RunProcess *p, const uint64_t *list, uint64_t count, uint32_t *n) {
  *n = (uint32_t)(count / 4);
  RunPlace *places = ARENA_ARRAY(&p->arena, RunPlace, *n);
  for (uint32_t i = 0; i < *n; i++)
    places[i] = (RunPlace){string_of(p, list[4 * i]), string_of(p, list[4 * i + 1]),
                           (uint32_t)list[4 * i + 2], (uint32_t)list[4 * i + 3]};
  return places;
}

static void on_Site(Run *r, RunProcess *p, const EventSite *e) {
  RunSite *s = ARENA_NEW(&p->arena, RunSite);
  *s = (RunSite){.id = ++r->last_id,
                 .number = e->id,
                 .module = u64map_get(&p->modules, e->module),
                 .function = string_of(p, e->function),
                 .text = run_text(r, e->text),
                 .space = string_of(p, e->space),
                 .ptx_line = (uint32_t)e->ptx_line,
                 .classes = (uint32_t)e->classes,
                 .bytes = (uint32_t)e->bytes,
                 .object = string_of(p, e->object),
                 .parameter = (uint32_t)e->parameter};
  s->places = places_of(p, e->places, e->places_count, &s->nplaces);
  u64map_put(&p->sites, e->id + 1, s);
  run_save_site(r, s);
}

static void on_Launch(Run *r, RunProcess *p, const EventLaunch *e) {
  if (!p->launches) p->launches = mem_alloc(sizeof(RunLaunch) * RUN_LAUNCHES_KEPT);
  RunLaunch *l = &p->launches[p->nlaunches++ % RUN_LAUNCHES_KEPT];
  p->last_launch = MAX(p->last_launch, (uint32_t)e->number);
  *l = (RunLaunch){++r->last_id,
                   (uint32_t)e->number,
                   (uint32_t)e->kernel,
                   {(uint32_t)e->grid_x, (uint32_t)e->grid_y, (uint32_t)e->grid_z},
                   {(uint32_t)e->block_x, (uint32_t)e->block_y, (uint32_t)e->block_z},
                   {(uint32_t)e->cluster_x, (uint32_t)e->cluster_y, (uint32_t)e->cluster_z},
                   (uint32_t)e->shared,
                   (uint32_t)e->flags,
                   (int)e->device,
                   e->stream,
                   e->time_ns,
                   stack_of(p, e->stack)};
  RunKernel *k = kernel_of(p, e->kernel);
  uint64_t api = e->flags >> LAUNCH_API_SHIFT;
  if (api >= API_COUNT_) l->flags &= (1u << LAUNCH_API_SHIFT) - 1;
  else if (api) r->api = (ApiId)api;
  run_save(r, TABLE_launch, "iiiiiiiiiiiiiiiiiiii", (int64_t)l->id, (int64_t)p->id,
           (int64_t)l->number, (int64_t)(k ? k->id : 0), (int64_t)e->grid_x, (int64_t)e->grid_y,
           (int64_t)e->grid_z, (int64_t)e->block_x, (int64_t)e->block_y, (int64_t)e->block_z,
           (int64_t)e->cluster_x, (int64_t)e->cluster_y, (int64_t)e->cluster_z, (int64_t)e->shared,
           (int64_t)e->stream, (int64_t)e->device, (int64_t)((e->flags & LAUNCH_COOPERATIVE) != 0),
           (int64_t)((e->flags & LAUNCH_CAPTURED) != 0), (int64_t)e->time_ns, id_of(l->stack));
}

static void on_GraphLaunch(Run *r, RunProcess *p, const EventGraphLaunch *e) {
  run_save(r, TABLE_graph_launch, "iiiiii", (int64_t)++r->last_id, (int64_t)p->id,
           (int64_t)e->graph, (int64_t)e->stream, (int64_t)e->time_ns,
           id_of(stack_of(p, e->stack)));
}

static void retire(RunProcess *p, RunAllocation *a) {
  if (!p->freed) p->freed = mem_alloc(sizeof *p->freed * RUN_FREED_KEPT);
  RunAllocation **slot = &p->freed[p->nfreed++ % RUN_FREED_KEPT];
  free(*slot);
  *slot = a;
}

static void on_Alloc(Run *r, RunProcess *p, const EventAlloc *e) {
  RunAllocation *a = mem_alloc(sizeof *a);
  *a = (RunAllocation){.id = ++r->last_id,
                       .process = p,
                       .base = e->base,
                       .size = e->size,
                       .kind = (uint32_t)e->kind,
                       .device = (int)e->device,
                       .name = run_text(r, e->name),
                       .stack = stack_of(p, e->stack),
                       .born = p->last_launch};
  p->lowest = p->highest ? MIN(p->lowest, e->base) : e->base;
  p->highest = MAX(p->highest, e->base + e->size);
  RunAllocation *before = u64map_remove(&p->live, e->base);
  if (before) retire(p, before);  // freed by a call that we did not see
  u64map_put(&p->live, e->base, a);
  if (a->name) strmap_put(&r->variables, a->name, (void *)a->name);
  run_save_allocation(r, a);
}

static void on_Free(Run *r, RunProcess *p, const EventFree *e) {
  RunAllocation *a = u64map_remove(&p->live, e->base);
  if (!a) return;
  a->freed = true;
  a->died = p->last_launch;
  a->free_stack = stack_of(p, e->stack);
  retire(p, a);
  run_save_allocation(r, a);
}

static void on_Finding(Run *r, RunProcess *p, const EventFinding *e) {
  uint32_t n;
  RunPlace *places = places_of(p, e->places, e->places_count, &n);
  run_host_finding(r, p, e, places, n);
}
static void on_Device(Run *r, RunProcess *p, const EventDevice *e) {
  u64map_put(&p->open_devices, e->channel + 1, (void *)(uintptr_t)(e->ordinal + 1));
}
static void on_DeviceEnd(Run *r, RunProcess *p, const EventDeviceEnd *e) {
  u64map_remove(&p->open_devices, e->channel + 1);
}
static void on_Step(Run *r, RunProcess *p, const EventStep *e) { run_save_step(r, p, e); }
static void on_Interrupt(Run *r, RunProcess *p, const EventInterrupt *e) {
  run_save_interrupt(r, p, e);
}

static void on_InterruptCaller(Run *r, RunProcess *p, const EventInterruptCaller *e) {
  run_save_interrupt_caller(r, p, e);
}

static void on_StepAfter(Run *r, RunProcess *p, const EventStepAfter *e) {
  run_save_step_after(r, p, e);
}
static void on_BenignRace(Run *r, RunProcess *p, const EventBenignRace *e) {
  run_save_benign_race(r, p, e);
}
static void on_KernelCode(Run *r, RunProcess *p, const EventKernelCode *e) {
  run_take_code(r, p, e);
}
static void on_Choose(Run *r, RunProcess *p, const EventChoose *e) {
  RunAllocation *a = u64map_get(&p->live, e->base);
  const char *name = a ? a->name ? a->name : run_pointer_name(r, a->stack) : NULL;
  if (r->on_choose) r->on_choose(r, p->id, (uint32_t)e->sequence, name, r->user);
}
static void on_LaunchTime(Run *r, RunProcess *p, const EventLaunchTime *e) {
  run_save_launch_time(r, p, e);
}
static void on_Parameter(Run *r, RunProcess *p, const EventParameter *e) {
  run_save_parameter(r, p, e);
}
// the channel looks at it: see drained
static void on_TraceMark(Run *r, RunProcess *p, const EventTraceMark *e) {}
static void on_TraceEnd(Run *r, RunProcess *p, const EventTraceEnd *e) {
  if (e->dropped)
    run_add_note(r, p, SEVERITY_WARNING,
                 "process %d: %llu operations were not recorded, because the command had ended",
                 p->pid, (unsigned long long)e->dropped);
}
static void on_CountsRead(Run *r, RunProcess *p, const EventCountsRead *e) {}

static void on_CountRow(Run *r, RunProcess *p, const EventCountRow *e) {
  const char *kernel = string_of(p, e->kernel);
  RunCount *c = kernel ? run_count_row(r, kernel, string_of(p, e->file), (uint32_t)e->line) : NULL;
  if (!c) return;
  c->total += e->total;
  c->warp_total += e->warp_total;
  c->loads += e->loads;
  c->stores += e->stores;
  c->atomics += e->atomics;
  c->load_bytes += e->load_bytes;
  c->store_bytes += e->store_bytes;
  c->atomic_bytes += e->atomic_bytes;
  for (uint64_t i = 0; i < MIN(e->classes_count, ARRAY_LEN(c->classes)); i++)
    c->classes[i] += e->classes[i];
}

// Frames of the CUDA runtime, of OpenCL's loader and of its layers.
static bool is_of_api(const char *object) {
  return object && (strstr(object, "libcuda") || strstr(object, "libwarpgrind") ||
                    strstr(object, "libOpenCL"));
}

static void on_Measure(Run *r, RunProcess *p, const EventMeasure *e) {
  RunMeasure m = {.process = p->id,
                  .what = string_of(p, e->what),
                  .kernel = string_of(p, e->kernel),
                  .file = string_of(p, e->file),
                  .line = (uint32_t)e->line,
                  .text = e->text};
  // A call of the host: the innermost line of the program that is known
  uint32_t nframes = 0;
  RunStack *stack = stack_of(p, e->stack);
  const RunFrame *frames = stack ? run_stack_frames(r, stack, &nframes) : NULL;
  for (uint32_t i = 0; i < nframes && !m.file; i++)
    if (frames[i].file && frames[i].line && !is_of_api(frames[i].object)) {
      m.file = frames[i].file;
      m.line = frames[i].line;
    }
  for (uint64_t i = 0; i < MIN(e->values_count, (uint64_t)RUN_MEASURE_VALUES); i++)
    m.v[i] = e->values[i];
  if (!m.what) return;
  run_add_measure(r, &m);
  run_prove_source(r, m.file);
}

static void on_Outputs(Run *r, RunProcess *p, const EventOutputs *e) { run_outputs(r, p, e); }
static void on_Hashes(Run *r, RunProcess *p, const EventHashes *e) { run_hashes(r, p, e); }
static void on_NoHashes(Run *r, RunProcess *p, const EventNoHashes *e) {
  run_hashes_missing(r, p, e);
}
static void on_Disturbed(Run *r, RunProcess *p, const EventDisturbed *e) { run_disturbed(r, p, e); }

static void on_Dumped(Run *r, RunProcess *p, const EventDumped *e) { run_dumped(r, p, e); }

static void on_Numerics(Run *r, RunProcess *p, const EventNumerics *e) {
  const RunKernel *k = kernel_of(p, e->kernel);
  if (k)
    run_save(r, TABLE_kernel_numerics, "itttt", (int64_t)k->id, e->approximate, e->order,
             e->relative, e->absolute);
}

static void on_Note(Run *r, RunProcess *p, const EventNote *e) {
  run_add_note(r, p, e->severity <= SEVERITY_ERROR ? (Severity)e->severity : SEVERITY_WARNING, "%s",
               e->text ? e->text : "");
}

static void event(void *user, uint32_t id, ChannelEvent type, const AnyEvent *e) {
  Run *r = user;
  RunProcess *p = process_of(r, id);
  if (!p) return;
  switch (type) {
#define NUM(name)
#define TEXT(name)
#define LIST(name)
#define EVENT(id, Name, fields) \
  case EVENT_##id: \
    on_##Name(r, p, &e->id); \
    break;
#include "channel/events.def"
    case EVENT_NONE:
    case EVENT_COUNT: break;
  }
}

static void finding(void *user, uint32_t id, uint32_t device, const WgFinding *f) {
  Run *r = user;
  RunProcess *p = process_of(r, id);
  if (p) run_device_finding(r, p, f);
}

static void site_count(void *user, uint32_t id, uint32_t device, uint32_t site, uint64_t count) {
  Run *r = user;
  RunProcess *p = process_of(r, id);
  if (p) run_site_counted(r, p, site, count);
}

static void device_closed(void *user, uint32_t id, uint32_t device, uint32_t lost, bool at_least) {
  Run *r = user;
  RunProcess *p = process_of(r, id);
  if (p && lost)
    run_add_note(
        r, p, SEVERITY_WARNING,
        "%u findings came faster than they could be read: they are counted, but have no details",
        lost);
  if (p && at_least)
    run_add_note(r, p, SEVERITY_WARNING,
                 "process %d ended before a device's own counts could be read: numbers above 127 "
                 "may be up to 2%% too low",
                 p->pid);
}

static void kernel_counts(void *user, uint32_t id, uint32_t kernel, uint64_t launches,
                          uint64_t checked) {
  Run *r = user;
  RunProcess *p = process_of(r, id);
  if (!p) return;
  RunKernel *k = kernel_of(p, kernel);
  if (k) {
    k->launches += launches;
    k->checked += checked;
  }
  if (!kernel)
    run_add_note(r, p, SEVERITY_WARNING,
                 "process %d launched more than %d different kernels: %llu launches of the others, "
                 "%llu of them checked, are not listed by kernel",
                 p->pid, CHANNEL_KERNELS - 1, (unsigned long long)launches,
                 (unsigned long long)checked);
  r->counted_launches += launches;
  r->checked_launches += checked;
  r->progressed = true;
}

// Notes what a process could not report because it was killed or ended by _exit.
static void note_unfinished(Run *r, RunProcess *p) {
  uint32_t it = 0;
  uint64_t channel;
  void *ordinal;
  while (u64map_next(&p->open_devices, &it, &channel, &ordinal))
    if (strstr(r->tools ? r->tools : "", "count"))
      run_add_note(r, p, SEVERITY_WARNING,
                   "process %d ended before the counts of device %d were read: they are lost",
                   p->pid, (int)(uintptr_t)ordinal - 1);
}

static void note_damage(Run *r, RunProcess *p) {
  if (p->damaged) return;
  p->damaged = true;
  if (!r->damaged++) r->damaged_pid = p->pid;
  run_add_note(r, p, SEVERITY_WARNING,
               "process %d has damaged the memory it reports through: what it reported afterwards "
               "is missing",
               p->pid);
}

static void damaged(void *user, uint32_t id) {
  RunProcess *p = process_of(user, id);
  if (p) note_damage(user, p);
}

static void closed(void *user, uint32_t id, ChannelClosed how, uint64_t lost, bool is_damaged) {
  static const char *const words[] = {"without notice", "replaced itself (exec)", "still running"};
  Run *r = user;
  RunProcess *p = process_of(r, id);
  if (!p) return;
  run_settle_findings(r, p);
  run_outputs_end(r, p);
  if (lost || is_damaged) run_uncommit_steps(r, p);
  if (how != CLOSED_RUNNING) note_unfinished(r, p);
  if (lost)
    run_add_note(r, p, SEVERITY_WARNING,
                 "process %d: %llu events are missing from the report, since they could not be "
                 "written in time",
                 p->pid, (unsigned long long)lost);
  if (is_damaged || (p->odd_counts && !lost)) note_damage(r, p);
  r->lost_events += lost;
  save_process(r, p, p->ended ? "in order" : words[how], lost);
  run_release_process(r, p);
}

static void drained(void *user, uint32_t id, uint32_t launch) {
  Run *r = user;
  RunProcess *p = process_of(r, id);
  if (p) run_launch_drained(r, p, launch);
}

void run_sink(Run *r, ChannelSink *sink) {
  *sink = (ChannelSink){opened,        event,  finding, site_count, device_closed,
                        kernel_counts, closed, damaged, drained,    r};
}
