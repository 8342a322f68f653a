// Findings: the first of each place is kept in full, later ones are counted.
#include "run/internal.h"
#include "tools/report.h"

static const RunLaunch *keep_launch(Run *r, const RunLaunch *l) {
  RunLaunch *copy = ARENA_NEW(&r->arena, RunLaunch);
  *copy = *l;
  return copy;
}

static ApiId api_of(const RunLaunch *l) {
  return l ? (ApiId)(l->flags >> LAUNCH_API_SHIFT) : API_CUDA;
}

static const RunLaunch *launch_of(Run *r, RunProcess *p, uint32_t number) {
  if (!number || !p->launches) return NULL;
  // launches of one thread come in the order of their numbers
  uint64_t likely = (number - 1) % RUN_LAUNCHES_KEPT;
  if (likely < p->nlaunches && p->launches[likely].number == number)
    return keep_launch(r, &p->launches[likely]);
  for (uint64_t i = 0; i < MIN(p->nlaunches, (uint64_t)RUN_LAUNCHES_KEPT); i++)
    if (p->launches[i].number == number) return keep_launch(r, &p->launches[i]);
  return NULL;
}

// How far an address is from an allocation; 0: inside.
static uint64_t distance(const RunAllocation *a, uint64_t address) {
  if (address < a->base) return a->base - address;
  return address - a->base < a->size ? 0 : address - a->base - a->size + 1;
}

// Findings arrive late: they are judged by the allocations that existed at their launch. `launch`
// 0: now.
static bool was_there(const RunAllocation *a, uint32_t launch) {
  return !launch || a->born < launch;
}
static bool was_freed(const RunAllocation *a, uint32_t launch) {
  return a->freed && (!launch || a->died < launch);
}

// Orders allocations: existing before missing, inside before near, live before freed, younger
// before older.
static bool better(const RunAllocation *a, const RunAllocation *than, uint64_t address,
                   uint32_t launch) {
  if (!than) return true;
  if (was_there(a, launch) != was_there(than, launch)) return was_there(a, launch);
  uint64_t da = distance(a, address), db = distance(than, address);
  if (da != db) return da < db;
  if (was_freed(a, launch) != was_freed(than, launch)) return !was_freed(a, launch);
  return a->id > than->id;
}

enum { NEAR = 1 << 20 };  // a more distant allocation does not help the reader

static RunAllocation *closest(RunProcess *p, uint64_t address, uint32_t launch) {
  RunAllocation *best = NULL;
  uint32_t it = 0;
  uint64_t base;
  void *a;
  while (u64map_next(&p->live, &it, &base, &a))
    if (better(a, best, address, launch)) best = a;
  for (uint64_t i = 0; i < MIN(p->nfreed, (uint64_t)RUN_FREED_KEPT); i++)
    if (better(p->freed[i], best, address, launch)) best = p->freed[i];
  return best && distance(best, address) <= NEAR ? best : NULL;
}

static const RunAllocation *keep(Run *r, RunAllocation *a, bool freed) {
  if (!a->name && !a->pointer && (a->pointer = run_pointer_name(r, a->stack)))
    run_save_allocation(r, a);
  RunAllocation *copy = ARENA_NEW(&r->arena, RunAllocation);
  *copy = *a;
  if (!freed) {
    copy->freed = false;
    copy->free_stack = NULL;
  }
  return copy;
}

// related: an address in the allocation it is about; 0: not known.
static void find_allocation(Run *r, RunProcess *p, RunFinding *f, uint64_t related) {
  // A graph is launched after its launches were captured: any allocation may have existed by then.
  uint32_t launch = f->text || (f->launch && f->launch->flags & LAUNCH_CAPTURED) ? 0
                                                                                 : f->launch_number;
  RunAllocation *near = closest(p, f->address, launch),
                *about = related ? closest(p, related, launch) : NULL;
  if (!about || distance(about, related) > 1) about = near;  // 1: right after its end
  if (!about) return;
  bool late = f->kind->parts & OF_FREED_MEMORY;  // freed while the kernel ran, or before
  f->allocation = keep(r, about, was_freed(about, late ? 0 : launch));
  f->offset = (int64_t)(f->address - about->base);
  if (near && near != about && distance(near, f->address) == 0)
    f->inside = keep(r, near, was_freed(near, late ? 0 : launch));
}

static void add(Run *r, RunFinding *f) {
  f->id = ++r->last_id;
  vec_push(&r->findings, f);
  vec_push(&f->process->findings, f);
  if (r->suppress) f->suppressed = r->suppress(r, f, r->suppress_user);
  run_save_finding(r, f);
  if (r->on_finding && !f->suppressed) r->on_finding(r, f, r->user);
}

static bool is_full(Run *r) {
  if (r->findings.len < RUN_FINDINGS_KEPT) return false;
  if (!r->full_said)
    run_add_note(r, NULL, SEVERITY_WARNING,
                 "more than %d places with findings: the others are only counted",
                 RUN_FINDINGS_KEPT);
  r->full_said = true;
  return true;
}

enum { MOST_WAITING = 4096 };
static uint32_t last_launch(const RunProcess *p) {
  return p->nlaunches ? p->launches[(p->nlaunches - 1) % RUN_LAUNCHES_KEPT].number : 0;
}

void run_host_finding(Run *r, RunProcess *p, const EventFinding *e, RunPlace *places,
                      uint32_t nplaces) {
  const Kind *kind = kind_numbered((uint32_t)e->kind);
  if (!kind) return;
  RunKernel *kernel = u64map_get(&p->kernels, e->kernel);
  RunStack *stack = u64map_get(&p->stacks, e->stack);
  // Addresses and threads differ between repetitions: a place is the source line, or else the
  // sentence.
  Str key = {0};
  str_printf(&key, "%u %s %s", p->id, kind->name, kernel ? kernel->name : "");
  if (nplaces) str_printf(&key, " %s:%u", places[0].file ? places[0].file : "", places[0].line);
  else str_printf(&key, " %u %s", stack ? stack->id : 0, e->text ? e->text : "");
  // One call may copy the results of several kernels: which kernel is known once all stores are.
  bool waits = kind->parts & WAITS_IF_ADDRESSED && e->flags & FINDING_HAS_ADDRESS;
  if (waits && r->waiting.len < MOST_WAITING)
    str_printf(&key, " %llu %llx", (unsigned long long)p->nlaunches,
               (unsigned long long)e->address);
  RunFinding *f = strmap_get(&r->finding_keys, key.data);
  if (f) {
    f->count++;
  } else if (is_full(r)) {
    r->findings_left_out++;
    r->places_left_out++;
  } else {
    f = ARENA_NEW(&r->arena, RunFinding);
    *f = (RunFinding){
        .process = p,
        .kind = kind,
        .text = run_readable_text(r, e->text),
        .kernel = kernel,
        .launch = launch_of(r, p, (uint32_t)e->launch),
        .launch_number = (uint32_t)e->launch,
        .has_thread = e->flags & FINDING_HAS_THREAD,
        .has_address = e->flags & FINDING_HAS_ADDRESS,
        .block = {(uint32_t)e->block_x, (uint32_t)e->block_y, (uint32_t)e->block_z},
        .thread = {(uint32_t)e->thread_x, (uint32_t)e->thread_y, (uint32_t)e->thread_z},
        .size = e->size,
        .address = e->address,
        .stack = stack,
        .other_stack = u64map_get(&p->stacks, e->other_stack),
        .other_title = run_text(r, e->other_title),
        .last_launch = last_launch(p),
        .count = 1};
    f->api = api_of(f->launch);
    if (nplaces) {
      f->site = ARENA_NEW(&p->arena, RunSite);
      *f->site = (RunSite){
          .id = ++r->last_id, .number = UINT64_MAX, .places = places, .nplaces = nplaces};
      run_save_site(r, f->site);
    }
    if (f->has_address) find_allocation(r, p, f, e->related);
    strmap_put(&r->finding_keys, arena_strdup(&r->arena, key.data), f);
    if ((waits && f->allocation) || kind->parts & WAITS_FOR_END) vec_push(&r->waiting, f);
    else add(r, f);
  }
  str_free(&key);
}

// Lets one tool decide about its own findings in `list`.
static void settle_with(Run *r, const ToolReport *tool, const RunFindings *list, bool *reported) {
  RunFindings own = {0};
  bool *own_reported = mem_alloc(list->len + 1);
  uint32_t n = 0;
  for (uint32_t i = 0; i < list->len; i++)
    if (tool_report(list->data[i]->kind) == tool) vec_push(&own, list->data[i]);
  memset(own_reported, true, own.len);
  if (own.len) tool->settle(r, own.data, own_reported, own.len);
  for (uint32_t i = 0; i < list->len; i++)
    if (tool_report(list->data[i]->kind) == tool) reported[i] = own_reported[n++];
  free(own_reported);
  vec_free(&own);
}

void run_settle_findings(Run *r, const RunProcess *p) {
  RunFindings list = {0};
  uint32_t left = 0;
  for (uint32_t i = 0; i < r->waiting.len; i++) {
    RunFinding *f = r->waiting.data[i];
    if (f->process == p) vec_push(&list, f);
    else r->waiting.data[left++] = f;
  }
  r->waiting.len = left;
  bool *reported = mem_alloc(list.len + 1);
  memset(reported, true, list.len);
  const ToolReport *tool;
  for (unsigned t = 0; list.len && (tool = tool_report_at(t)); t++)
    if (tool->settle) settle_with(r, tool, &list, reported);
  for (uint32_t i = 0; i < list.len; i++)
    if (reported[i]) add(r, list.data[i]);
  free(reported);
  vec_free(&list);
}

static bool is_global(const RunSite *s) {
  return !s || !s->space || strcmp(s->space, "global") == 0 || strcmp(s->space, "generic") == 0 ||
         strcmp(s->space, "texture") == 0;
}

static RunSite *site_of(const RunProcess *p, uint32_t number) {
  return u64map_get(&p->sites, (uint64_t)number % WG_SITE_NUMBERS + 1);
}

RunSite *run_site_numbered(const RunProcess *p, uint64_t number) {
  return number < UINT32_MAX ? site_of(p, (uint32_t)number) : NULL;
}

static RunFinding *device_finding(Run *r, RunProcess *p, const Kind *kind, uint32_t site) {
  RunFinding *f = ARENA_NEW(kind->parts & EXPLAINS_OTHERS ? &p->arena : &r->arena, RunFinding);
  *f = (RunFinding){.process = p, .kind = kind, .site = site_of(p, site)};
  u64map_put(&p->found, (uint64_t)site + 1, f);
  return f;
}

// Places of a closed kernel are parts of its machine code: the record has the instruction's offset.
static bool is_machine_code(const RunSite *s) { return s && !s->nplaces && !s->ptx_line; }

static void name_instruction(Run *r, RunProcess *p, const WgFinding *d, RunFinding *f) {
  RunSite *s = ARENA_NEW(&p->arena, RunSite);
  *s = *f->site;
  s->id = ++r->last_id;
  s->number = UINT64_MAX;
  s->text = arena_printf(&p->arena, "+0x%llx", (unsigned long long)d->value[3]);
  f->site = s;
  run_save_site(r, s);
}

static RunFinding *known_by(Run *r, const char *key, const RunFinding *f) {
  RunFinding *known = strmap_get(&r->finding_keys, key);
  if (!known) strmap_put(&r->finding_keys, arena_strdup(&r->arena, key), (void *)f);
  return known;
}

// One instruction can be in a kernel several times: some tools weave two bodies. A loop that the
// compiler unrolled has several instructions for one source place; their findings about the same
// memory are one finding. f: the new finding. Returns the known finding for this place, or NULL.
static RunFinding *same_place(Run *r, RunProcess *p, const RunFinding *f) {
  const RunSite *s = f->site;
  if (!s || !(f->kind->parts & ONE_PER_PLACE)) return NULL;
  Str key = {0};
  str_printf(&key, "%p %u %p %s", (void *)p, f->kind->number, (void *)f->kernel,
             s->function ? s->function : "");
  size_t start = key.len;
  str_printf(&key, " ptx %u", s->ptx_line);
  RunFinding *known = s->ptx_line ? known_by(r, key.data, f) : NULL;
  if (!known && (s->nplaces || is_machine_code(s))) {
    key.len = start;
    str_printf(&key, " %u", f->allocation ? f->allocation->id : 0);
    for (uint32_t i = 0; i < s->nplaces; i++)
      str_printf(&key, " %s:%u:%u", s->places[i].file ? s->places[i].file : "", s->places[i].line,
                 s->places[i].column);
    known = known_by(r, key.data, f);
  }
  str_free(&key);
  return known;
}

// Reads the device's record, as the parts of the kind and its tool require. false: the address is
// not one of global memory.
static bool read_record(const RunProcess *p, const WgFinding *d, RunFinding *f) {
  uint32_t parts = f->kind->parts;
  const ToolReport *tool = tool_report(f->kind);
  f->has_thread = true;
  memcpy(f->block, d->block, sizeof f->block);
  memcpy(f->thread, d->thread, sizeof f->thread);
  f->lanes = d->lanes;
  f->size = d->size;
  f->has_address = parts & HAS_ADDRESS || (parts & MAY_HAVE_ADDRESS && d->address);
  f->address = d->address;
  memcpy(f->value, d->value, sizeof f->value);
  memcpy(f->extra, d->extra, sizeof f->extra);
  if (parts & HAS_DETAIL) {
    f->extra[2] = d->size;
    f->size = 0;
  }
  bool in_global = !tool->receive || tool->receive(p, d, f);
  // the run file keeps only what the table of kinds declares
  if (!(parts & HAS_ORIGIN)) f->origin = NULL;
  if (!(parts & HAS_SOURCE)) f->source = NULL;
  return in_global;
}

void run_device_finding(Run *r, RunProcess *p, const WgFinding *d) {
  const Kind *kind = kind_numbered(d->kind);
  if (!kind) return;
  RunFinding *f = u64map_get(&p->found, (uint64_t)d->site + 1);
  if (f || is_full(r)) return;  // counted by the device itself
  f = device_finding(r, p, kind, d->site);
  f->launch_number = d->launch;
  f->launch = launch_of(r, p, d->launch);
  f->api = api_of(f->launch);
  f->kernel = f->launch ? u64map_get(&p->kernels, f->launch->kernel) : NULL;
  bool in_global = read_record(p, d, f);
  if (kind->parts & EXPLAINS_OTHERS) {
    vec_push(&r->explanations, f);
    return;
  }
  if (f->has_address && in_global && (f->origin || is_global(f->site)))
    find_allocation(r, p, f, kind->parts & HAS_POINTER ? d->value[0] : 0);
  if (kind->parts & MAY_BE_IN_HEAP && f->allocation &&
      f->address - f->allocation->base >= f->allocation->size)
    f->allocation = NULL;
  if (kind->parts & HAS_POINTER) f->parameter = run_parameter_name(r, f);
  f->count = 1;
  RunFinding *known = same_place(r, p, f);
  if (!known && is_machine_code(f->site)) name_instruction(r, p, d, f);
  if (known) {
    u64map_put(&p->found, (uint64_t)d->site + 1, known);
    if (!known->counted) known->count++;
  } else add(r, f);
}

// The first finding of this site found no slot in time.
static void note_undescribed(Run *r, RunProcess *p, const RunSite *s, uint64_t count) {
  enum { SAID = 20 };
  if (r->undescribed++ >= SAID) return;
  const char *file = s && s->nplaces && s->places[0].file ? s->places[0].file : NULL;
  run_add_note(
      r, p, SEVERITY_WARNING,
      "%llu findings at %s%s%.0u could not be described: they came faster than they could be read",
      (unsigned long long)count, file ? file : "one instruction", file ? ":" : "",
      file ? s->places[0].line : 0);
}

// A site that sends no records is known by its count alone.
static bool only_counts(Run *r, RunProcess *p, uint32_t site, uint64_t count) {
  const RunSite *s = site_of(p, site);
  const Kind *kind = NULL;
  const ToolReport *tool;
  for (unsigned t = 0; s && !kind && (tool = tool_report_at(t)); t++)
    if (tool->counted) kind = tool->counted(s);
  if (!kind || is_full(r)) return false;
  RunFinding *f = device_finding(r, p, kind, site);
  uint32_t it = 0;
  uint64_t number;
  void *k;
  while (s->function && u64map_next(&p->kernels, &it, &number, &k))
    if (!strcmp(((RunKernel *)k)->name, s->function)) f->kernel = k;
  f->count = count;
  f->counted = true;
  add(r, f);
  return true;
}

enum { ODD_COUNT = 1 << 30 };

void run_site_counted(Run *r, RunProcess *p, uint32_t site, uint64_t count) {
  RunFinding *f = u64map_get(&p->found, (uint64_t)site + 1);
  if (f) {
    // A site may report through several device channels. The first count replaces the count of 1
    // that the record had set.
    f->count = f->counted ? f->count + count : count;
    f->counted = true;
    return;
  }
  if (only_counts(r, p, site, count)) return;
  if (!site_of(p, site)) {  // no such place was announced
    p->odd_counts = true;
    if (count > ODD_COUNT) return;
  }
  r->findings_left_out += count;
  r->places_left_out++;
  if (!is_full(r)) note_undescribed(r, p, site_of(p, site), count);
}
