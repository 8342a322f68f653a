// Findings: the first of each place is kept in full, later ones are counted.
#include "tools/fpcheck/abi.h"
#include "tools/racecheck/abi.h"
#include "tools/synccheck/abi.h"
#include "run/internal.h"

static const RunLaunch *keep_launch(Run *r, const RunLaunch *l) {
  RunLaunch *copy = ARENA_NEW(&r->arena, RunLaunch);
  *copy = *l;
  return copy;
}

static const RunLaunch *launch_of(Run *r, RunProcess *p, uint32_t number) {
  if (!number || !p->launches) return NULL;
  // they come in order, but for those of other threads
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

// Findings of a kernel are read later than they happened: what was freed or allocated since its
// launch was not so then. `launch` 0: now.
static bool was_there(const RunAllocation *a, uint32_t launch) {
  return !launch || a->born < launch;
}
static bool was_freed(const RunAllocation *a, uint32_t launch) {
  return a->freed && (!launch || a->died < launch);
}

// What was there at all, inside before near, live before freed, the younger of two.
static bool better(const RunAllocation *a, const RunAllocation *than, uint64_t address,
                   uint32_t launch) {
  if (!than) return true;
  if (was_there(a, launch) != was_there(than, launch)) return was_there(a, launch);
  uint64_t da = distance(a, address), db = distance(than, address);
  if (da != db) return da < db;
  if (was_freed(a, launch) != was_freed(than, launch)) return !was_freed(a, launch);
  return a->id > than->id;
}

enum { NEAR = 1 << 20 };  // farther away is no help

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
  // A graph is launched later than its launches are: then anything may have been there.
  uint32_t launch = f->text || (f->launch && f->launch->flags & LAUNCH_CAPTURED) ? 0
                                                                                 : f->launch_number;
  RunAllocation *near = closest(p, f->address, launch),
                *about = related ? closest(p, related, launch) : NULL;
  if (!about || distance(about, related) > 1) about = near;  // 1: right behind its end
  if (!about) return;
  bool late = f->kind->number == KIND_USE_AFTER_FREE;  // freed while the kernel ran, or before
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
  const ChannelKindInfo *kind = channel_kind((uint32_t)e->kind);
  if (!kind) return;
  RunKernel *kernel = u64map_get(&p->kernels, e->kernel);
  RunStack *stack = u64map_get(&p->stacks, e->stack);
  // Addresses and threads differ from one time to the next: a place is the source line, or else the
  // sentence.
  Str key = {0};
  str_printf(&key, "%u %s %s", p->id, kind->name, kernel ? kernel->name : "");
  if (nplaces) str_printf(&key, " %s:%u", places[0].file ? places[0].file : "", places[0].line);
  else str_printf(&key, " %u %s", stack ? stack->id : 0, e->text ? e->text : "");
  // One call may copy what several kernels wrote: which one is known when all of their stores are.
  bool waits = kind->number == KIND_UNINIT_USE && e->flags & FINDING_HAS_ADDRESS;
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
    if (nplaces) {
      f->site = ARENA_NEW(&p->arena, RunSite);
      *f->site = (RunSite){
          .id = ++r->last_id, .number = UINT64_MAX, .places = places, .nplaces = nplaces};
      run_save_site(r, f->site);
    }
    if (f->has_address) find_allocation(r, p, f, e->related);
    strmap_put(&r->finding_keys, arena_strdup(&r->arena, key.data), f);
    if ((waits && f->allocation) || kind->number == KIND_FP_OUTPUT) vec_push(&r->waiting, f);
    else add(r, f);
  }
  str_free(&key);
}

// The last one before it is copied: into the same place, or else into the same allocation.
static RunFinding *store_into(const Run *r, const RunFinding *f) {
  RunFinding *best = NULL;
  for (uint32_t i = 0; i < r->bad_stores.len; i++) {
    RunFinding *s = r->bad_stores.data[i];
    if (s->process != f->process || s->value[0] - f->allocation->base >= f->allocation->size)
      continue;
    if (s->launch_number <= f->allocation->born || s->launch_number > f->last_launch) continue;
    bool same = s->value[0] == f->address, was = best && best->value[0] == f->address;
    if (!best || same > was || (same == was && s->launch_number >= best->launch_number)) best = s;
  }
  return best;
}

static void set_source(RunFinding *f, RunSite *source) {
  f->source = source;
  f->extra[2] = source ? source->id : 0;  // for the run file
}

// The same call copies what the same store wrote, of memory that was allocated at the same place.
static bool same_copy(Run *r, StrMap *told, RunFinding *f) {
  char key[96];
  snprintf(key, sizeof key, "%u %u %u", f->stack ? f->stack->id : 0, f->site ? f->site->id : 0,
           f->allocation->stack ? f->allocation->stack->id : 0);
  RunFinding *first = strmap_get(told, key);
  if (first) first->count += f->count;
  else strmap_put(told, arena_strdup(&r->arena, key), f);
  return first;
}

void run_settle_findings(Run *r, const RunProcess *p) {
  uint32_t left = 0;
  StrMap makers = {0}, told = {0};
  if (r->waiting.len) run_fp_makers(r, &makers);
  for (uint32_t i = 0; i < r->waiting.len; i++) {
    RunFinding *f = r->waiting.data[i];
    if (f->process != p) {
      r->waiting.data[left++] = f;
      continue;
    }
    // infinity that nobody made of numbers is where the program wants it
    if (f->kind->number == KIND_FP_OUTPUT) {
      if (f->kernel && strmap_get(&makers, f->kernel->name)) add(r, f);
      continue;
    }
    RunFinding *s = store_into(r, f);
    if (s) {
      f->site = s->site;
      f->kernel = s->kernel;
      f->origin = s->origin;
      f->extra[1] = s->origin ? s->origin->id : 0;
      set_source(f, s->source);
    }
    if (!same_copy(r, &told, f)) add(r, f);
  }
  r->waiting.len = left;
  strmap_free(&makers);
  strmap_free(&told);
}

static bool has_memory_address(const ChannelKindInfo *kind) {
  switch ((ChannelKind)kind->number) {
    case KIND_OOB_READ:
    case KIND_OOB_WRITE:
    case KIND_OOB_ATOMIC:
    case KIND_USE_AFTER_FREE:
    case KIND_MISALIGNED:
    case KIND_UNINIT_USE:
    case KIND_RACE_GLOBAL:
    case KIND_RACE_SHARED:
    case KIND_RACE_HOST:
    case KIND_RACE_SAME_VALUE:
    case KIND_RACE_NO_ACQUIRE:
    case KIND_BARRIER_MISUSE: return true;
    default: return false;
  }
}

// memcheck tells which object the address was computed from.
static bool has_pointer(const ChannelKindInfo *kind) {
  return kind->number >= KIND_OOB_READ && kind->number <= KIND_MISALIGNED;
}

static bool is_global(const RunSite *s) {
  return !s || !s->space || strcmp(s->space, "global") == 0 || strcmp(s->space, "generic") == 0 ||
         strcmp(s->space, "texture") == 0;
}

// it has coordinates
static bool is_surface(const RunSite *s) {
  return s && s->space && strcmp(s->space, "surface") == 0;
}

static RunSite *site_of(const RunProcess *p, uint32_t number) {
  return u64map_get(&p->sites, (uint64_t)number % WG_SITE_NUMBERS + 1);
}

static RunSite *site_if_any(const RunProcess *p, uint64_t number) {
  return number < UINT32_MAX ? site_of(p, (uint32_t)number) : NULL;
}

// initcheck: see WG_INIT_BRANCH.
static void set_origin(const RunProcess *p, RunFinding *f, uint64_t where) {
  f->origin = site_if_any(p, (uint32_t)where);
  set_source(f, where >> 32 ? site_of(p, (uint32_t)(where >> 32) - 1) : NULL);
}

static RunFinding *device_finding(Run *r, RunProcess *p, const ChannelKindInfo *kind,
                                  uint32_t site) {
  RunFinding *f = ARENA_NEW(kind->number == KIND_UNINIT_STORE ? &p->arena : &r->arena, RunFinding);
  *f = (RunFinding){.process = p, .kind = kind, .site = site_of(p, site)};
  u64map_put(&p->found, (uint64_t)site + 1, f);
  return f;
}

static RunFinding *known_by(Run *r, const char *key, const RunFinding *f) {
  RunFinding *known = strmap_get(&r->finding_keys, key);
  if (!known) strmap_put(&r->finding_keys, arena_strdup(&r->arena, key), (void *)f);
  return known;
}

// An instruction can be in a kernel several times: tools have two bodies for one. And a loop that
// the compiler unrolled has several instructions for one place of the source; what they report
// about the same memory is one finding. f is the new one; the one that stands for it, or NULL.
static RunFinding *same_place(Run *r, RunProcess *p, const RunFinding *f) {
  const RunSite *s = f->site;
  bool barrier = f->kind->number >= KIND_BARRIER_DIVERGENCE &&
                 f->kind->number <= KIND_BARRIER_MISUSE;
  if (!s || (!has_memory_address(f->kind) && !barrier)) return NULL;
  Str key = {0};
  str_printf(&key, "%p %u %p %s", (void *)p, f->kind->number, (void *)f->kernel,
             s->function ? s->function : "");
  size_t start = key.len;
  str_printf(&key, " ptx %u", s->ptx_line);
  RunFinding *known = s->ptx_line ? known_by(r, key.data, f) : NULL;
  if (!known && s->nplaces) {
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

static bool is_race(const ChannelKindInfo *k) {
  return k->number == KIND_RACE_GLOBAL || k->number == KIND_RACE_SHARED ||
         k->number == KIND_RACE_HOST || k->number == KIND_RACE_SAME_VALUE ||
         k->number == KIND_RACE_NO_ACQUIRE;
}

void run_device_finding(Run *r, RunProcess *p, const WgFinding *d) {
  const ChannelKindInfo *kind = channel_kind(d->kind);
  if (!kind) return;
  RunFinding *f = u64map_get(&p->found, (uint64_t)d->site + 1);
  if (f || is_full(r)) return;  // counted by the device itself
  f = device_finding(r, p, kind, d->site);
  f->launch_number = d->launch;
  f->launch = launch_of(r, p, d->launch);
  f->kernel = f->launch ? u64map_get(&p->kernels, f->launch->kernel) : NULL;
  f->has_thread = true;
  memcpy(f->block, d->block, sizeof f->block);
  memcpy(f->thread, d->thread, sizeof f->thread);
  f->lanes = d->lanes;
  f->size = d->size;
  f->has_address = has_memory_address(kind) && !is_surface(f->site);
  f->address = d->address;
  memcpy(f->value, d->value, sizeof f->value);
  memcpy(f->extra, d->extra, sizeof f->extra);
  // tools/fpcheck/abi.h: the word, and then the bytes of a value
  if ((kind->number >= KIND_FP_NAN && kind->number <= KIND_FP_COMPARE) ||
      kind->number == KIND_FP_REACHED || kind->number == KIND_FP_FLOW) {
    f->extra[2] = d->size;
    f->size = wg_fp_bytes(d->size);
    f->has_address = kind->number == KIND_FP_INPUT && d->address;
    if (kind->number == KIND_FP_INPUT && d->extra[0])
      f->origin = site_of(p, WG_FP_WRITER_SITE(d->extra[0]));
    if (f->origin) f->extra[1] = f->origin->id;
  }
  // tools/synccheck/abi.h: what it is about
  if (kind->number >= KIND_BARRIER_DIVERGENCE && kind->number <= KIND_BARRIER_MISUSE) {
    f->extra[2] = d->size;
    f->size = 0;
    f->has_address = d->address != 0;
    if (f->extra[2] == WG_SYNC_ELSEWHERE) f->origin = site_if_any(p, d->extra[0]);
  }
  if (kind->number == KIND_UNINIT_USE || kind->number == KIND_UNINIT_STORE)
    set_origin(p, f, d->extra[0]);
  if (kind->number == KIND_UNINIT_USE || is_race(kind)) {
    if (is_race(kind)) f->origin = site_if_any(p, d->extra[0]);
    f->extra[1] = f->origin ? f->origin->id : 0;  // for the run file
    f->has_address = d->address != 0 || is_race(kind);
  }
  if (kind->number == KIND_UNINIT_STORE) {
    vec_push(&r->bad_stores, f);
    return;
  }
  if (f->has_address && !(is_race(kind) && d->extra[2] & WG_RACE_IN_SHARED) &&
      (f->origin || is_global(f->site)))
    find_allocation(r, p, f, has_pointer(kind) ? d->value[0] : 0);
  // it is in the device's heap
  if (kind->number == KIND_UNINIT_USE && f->allocation &&
      f->address - f->allocation->base >= f->allocation->size)
    f->allocation = NULL;
  if (has_pointer(kind)) f->parameter = run_parameter_name(r, f);
  f->count = 1;
  RunFinding *known = same_place(r, p, f);
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

// A sink of fpcheck writes no record: it is known by its count alone.
static bool counted_sink(Run *r, RunProcess *p, uint32_t site, uint64_t count) {
  const RunSite *s = site_of(p, site);
  if (!s || !(s->classes & WG_FP_SITE_SINK) || is_full(r)) return false;
  RunFinding *f = device_finding(r, p, channel_kind(KIND_FP_REACHED), site);
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
    // A site may report through several device channels; the first count replaces the one that
    // stands for the record.
    f->count = f->counted ? f->count + count : count;
    f->counted = true;
    return;
  }
  if (counted_sink(r, p, site, count)) return;
  if (!site_of(p, site)) {  // no such place was announced
    p->odd_counts = true;
    if (count > ODD_COUNT) return;
  }
  r->findings_left_out += count;
  r->places_left_out++;
  if (!is_full(r)) note_undescribed(r, p, site_of(p, site), count);
}
