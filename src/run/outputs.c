// Hashes of buffers as they arrive. A step says which buffers a launch may have written; their
// hashes follow when the device has computed them. A step's rows are written once its hashes have
// arrived. Readers find the buffers by the names that the report uses.
#include "base/hash_option.h"
#include "run/internal.h"

// steps of a process that are remembered; numbers of a buffer in the event
enum { KEPT = 1 << 14, WORDS = 5 };

typedef struct Output {
  const RunAllocation *allocation;  // only while it lives
  int64_t id, allocation_id;
  const char *name;
  uint64_t bytes, sums[2];
  uint32_t element, parameter;
  // state: why there is no hash, or why it says nothing; NULL: there is one
  const char *type, *state;
  const char *file;                 // of a dump
  bool has_sums, saved, announced;  // announced: a row says that it is not hashed yet
} Output;
typedef struct Step {
  uint32_t number, launch, graph, n, ndumped;
  bool guessed;
  Output *list, *dumped;
} Step;
// announced: the last step that run_outputs_announce has handled; last: the largest step
struct RunOutputs {
  Step steps[KEPT];
  uint64_t announced, last;
};

// --- what a buffer holds, as the kernel's parameter says it ---

static const struct {
  const char *c, *type;
} types[] = {{"float", "f32"},
             {"double", "f64"},
             {"__half", "f16"},
             {"__nv_bfloat16", "bf16"},
             {"int", "s32"},
             {"unsigned int", "u32"},
             {"long", "s64"},
             {"unsigned long", "u64"},
             {"long long", "s64"},
             {"unsigned long long", "u64"},
             {"short", "s16"},
             {"unsigned short", "u16"},
             {"char", "s8"},
             {"signed char", "s8"},
             {"unsigned char", "u8"},
             {"bool", "u8"},
             {"float2", "f32"},
             {"float3", "f32"},
             {"float4", "f32"},
             {"double2", "f64"},
             {"int2", "s32"},
             {"int4", "s32"},
             {"uint2", "u32"},
             {"uint4", "u32"},
             {"uchar4", "u8"},
             {"__half2", "f16"},
             {"__nv_bfloat162", "bf16"}};

// "float*", "float const*", "double (*) [64]"
static const char *type_of_pointer(const char *text, size_t n) {
  const char *star = memchr(text, '*', n);
  if (!star) return NULL;
  size_t end = (size_t)(star - text);
  if (end && text[end - 1] == '(') end--;
  static const char *const words[] = {"const", "volatile"};
  for (bool again = true; again;) {
    again = false;
    while (end && text[end - 1] == ' ') end--;
    for (size_t i = 0; i < ARRAY_LEN(words); i++) {
      size_t k = strlen(words[i]);
      if (end > k && !strncmp(text + end - k, words[i], k)) {
        end -= k;
        again = true;
      }
    }
  }
  for (size_t i = 0; i < ARRAY_LEN(types); i++)
    if (strlen(types[i].c) == end && !strncmp(text, types[i].c, end)) return types[i].type;
  return NULL;
}

// The list of parameters is the last (…) that is not inside another, or inside <…>.
static const char *parameters_of(const char *readable) {
  const char *start = NULL;
  int depth = 0;
  for (const char *p = readable; *p; p++) {
    if (*p == '<' || *p == '[') depth++;
    if (*p == '>' || *p == ']') depth--;
    if (*p == '(') {
      if (!depth) start = p + 1;
      depth++;
    }
    if (*p == ')') depth--;
  }
  return start;
}

const char *run_parameter_type(const char *readable, uint32_t number) {
  const char *p = readable ? parameters_of(readable) : NULL;
  if (!p || !number) return NULL;
  int depth = 0;
  uint32_t at = 1;
  for (const char *start = p; *p; p++) {
    bool ends = !depth && (*p == ',' || *p == ')');
    if (*p == '<' || *p == '(' || *p == '[') depth++;
    else if (depth && (*p == '>' || *p == ')' || *p == ']')) depth--;
    if (!ends) continue;
    if (at == number) return type_of_pointer(start, (size_t)(p - start));
    if (*p == ')') break;
    at++;
    start = p + 1 + (p[1] == ' ');
  }
  return NULL;
}

// --- rows ---

static void save(Run *r, const RunProcess *p, const Step *s, Output *o) {
  char hash[2][20] = {"", ""};
  if (!o->id) o->id = ++r->last_id;
  for (int i = 0; i < 2; i++)
    if (o->has_sums) snprintf(hash[i], sizeof hash[i], "%016llx", (unsigned long long)o->sums[i]);
  o->saved = true;
  run_save(r, TABLE_buffer_hash, "iiiiiiitiittti", o->id, (int64_t)p->id, (int64_t)s->number,
           (int64_t)s->launch, (int64_t)s->graph, o->allocation_id, (int64_t)o->parameter, o->type,
           (int64_t)o->element, (int64_t)o->bytes, o->has_sums ? hash[0] : NULL,
           o->has_sums ? hash[1] : NULL, o->state, (int64_t)s->guessed);
}

static void save_dump(Run *r, const RunProcess *p, const Step *s, Output *o) {
  if (!o->id) o->id = ++r->last_id;
  run_save(r, TABLE_buffer_dump, "iiiiiiitiitt", o->id, (int64_t)p->id, (int64_t)s->number,
           (int64_t)s->launch, (int64_t)s->graph, o->allocation_id, (int64_t)o->parameter, o->type,
           (int64_t)o->element, (int64_t)o->bytes, o->file, o->state);
}

static void save_rest(Run *r, RunProcess *p, Step *s) {
  for (uint32_t i = 0; i < s->n; i++) {
    Output *o = &s->list[i];
    if (o->saved) continue;
    if (!o->has_sums && !o->state) o->state = HASH_PROCESS_ENDED;
    save(r, p, s, o);
  }
}

// Saves rows that say the hash is pending, so that a truncated file has the launch, too.
static void announce(Run *r, const RunProcess *p, Step *s) {
  for (uint32_t i = 0; i < s->n; i++) {
    Output *o = &s->list[i];
    if (o->saved || o->announced) continue;
    const char *state = o->state;
    o->state = state ? state : HASH_CUT;
    save(r, p, s, o);
    o->state = state;
    o->saved = false;
    o->announced = true;
  }
}

void run_outputs_announce(Run *r) {
  for (uint32_t i = 0; i < r->processes.len; i++) {
    const RunProcess *p = r->processes.data[i];
    struct RunOutputs *all = p->outputs;
    if (!all) continue;
    for (uint64_t k = all->announced + 1; k <= all->last; k++)
      announce(r, p, &all->steps[k % KEPT]);
    all->announced = all->last;
  }
}

static void free_step(Step *s) {
  free(s->list);
  free(s->dumped);
}

static const RunLaunch *launch_of(const RunProcess *p, uint32_t number) {
  for (uint64_t i = 0; i < MIN(p->nlaunches, 64); i++) {  // one of the last
    const RunLaunch *l = &p->launches[(p->nlaunches - 1 - i) % RUN_LAUNCHES_KEPT];
    if (l->number == number) return l;
  }
  return NULL;
}

static Step *step_of(RunProcess *p, uint64_t number) {
  Step *s = p->outputs ? &p->outputs->steps[number % KEPT] : NULL;
  return s && s->number == number && number ? s : NULL;
}

static void name_buffer(Run *r, RunAllocation *a) {
  if (!a->name && !a->pointer && (a->pointer = run_pointer_name(r, a->stack)))
    run_save_allocation(r, a);
}

// A buffer's element type comes from the last kernel whose parameter declared it.
static Output *read_list(Run *r, RunProcess *p, const RunKernel *k, const uint64_t *words,
                         uint32_t n) {
  Output *list = mem_alloc(sizeof *list * (n + 1));
  for (uint32_t i = 0; i < n; i++) {
    const uint64_t *w = words + i * WORDS;
    RunAllocation *a = u64map_get(&p->live, w[0]);
    Output *o = &list[i];
    if (a) name_buffer(r, a);
    *o = (Output){.allocation_id = a ? a->id : 0,
                  .name = a ? a->name ? a->name : a->pointer : NULL,
                  .bytes = w[1],
                  .element = (uint32_t)w[2],
                  .parameter = (uint32_t)w[3]};
    o->type = k ? run_parameter_type(k->readable, o->parameter) : NULL;
    if (!o->type) o->type = u64map_get(&p->strings, w[4]);
    if (a && o->type) a->type = o->type;
    if (a && !o->type) o->type = a->type;
  }
  return list;
}

void run_outputs(Run *r, RunProcess *p, const EventOutputs *e) {
  if (!p->outputs) p->outputs = mem_alloc(sizeof *p->outputs);
  Step *s = &p->outputs->steps[e->step % KEPT];
  save_rest(r, p, s);
  free_step(s);
  p->outputs->last = MAX(p->outputs->last, e->step);
  *s = (Step){.number = (uint32_t)e->step,
              .launch = (uint32_t)e->launch,
              .graph = (uint32_t)e->graph,
              .n = (uint32_t)(e->buffers_count / WORDS),
              .guessed = (e->flags & OUTPUTS_GUESSED) != 0};
  s->ndumped = (uint32_t)(e->dumped_count / WORDS);
  const RunLaunch *l = s->launch ? launch_of(p, s->launch) : NULL;
  const RunKernel *k = l ? u64map_get(&p->kernels, l->kernel) : NULL;
  s->list = read_list(r, p, k, e->buffers, s->n);
  // ids follow this order, whenever the hashes arrive
  for (uint32_t i = 0; i < s->n; i++) s->list[i].id = ++r->last_id;
  s->dumped = read_list(r, p, k, e->dumped, s->ndumped);
}

void run_hashes(Run *r, RunProcess *p, const EventHashes *e) {
  Step *s = step_of(p, e->step);
  for (uint64_t i = 0; s && i < e->sums_count / 2 && e->first + i < s->n; i++) {
    Output *o = &s->list[e->first + i];
    o->sums[0] = e->sums[2 * i];
    o->sums[1] = e->sums[2 * i + 1];
    o->has_sums = true;
    save(r, p, s, o);
  }
}

void run_hashes_missing(Run *r, RunProcess *p, const EventNoHashes *e) {
  Step *s = step_of(p, e->step);
  for (uint32_t i = 0; s && i < s->n; i++) {
    Output *o = &s->list[i];
    if (o->has_sums || (e->buffer && i + 1 != e->buffer)) continue;
    if (!o->state) o->state = run_text(r, e->why);
    save(r, p, s, o);
  }
}

static const char disturbed[] = "another stream may have been writing to it";

void run_disturbed(Run *r, RunProcess *p, const EventDisturbed *e) {
  Step *s = step_of(p, e->step);
  if (!s || e->buffer >= (e->dump ? s->ndumped : s->n)) return;
  Output *o = e->dump ? &s->dumped[e->buffer] : &s->list[e->buffer];
  o->state = disturbed;
  if (o->saved && !e->dump) save(r, p, s, o);
  if (e->dump) save_dump(r, p, s, o);
}

// The file has a temporary name; the receiver renames it.
void run_dumped(Run *r, RunProcess *p, const EventDumped *e) {
  Step *s = step_of(p, e->step);
  if (!s || e->buffer >= s->ndumped) return;
  Output *o = &s->dumped[e->buffer];
  RunDump d = {.process = p->id,
               .step = s->number,
               .launch = s->launch,
               .graph = s->graph,
               .allocation = (uint32_t)o->allocation_id,
               .name = o->name,
               .type = o->type,
               .element = o->element,
               .bytes = o->bytes,
               .from = e->file};
  if (!o->state) o->state = run_text(r, e->why);
  if (e->file && r->on_dump) o->file = run_text(r, r->on_dump(r, &d, r->user));
  save_dump(r, p, s, o);
}

void run_outputs_end(Run *r, RunProcess *p) {
  for (uint32_t i = 0; p->outputs && i < KEPT; i++) save_rest(r, p, &p->outputs->steps[i]);
  run_outputs_free(p);
}

void run_outputs_free(RunProcess *p) {
  for (uint32_t i = 0; p->outputs && i < KEPT; i++) free_step(&p->outputs->steps[i]);
  free(p->outputs);
  p->outputs = NULL;
}
