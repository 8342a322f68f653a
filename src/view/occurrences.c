// Searches the recording for all operations that a finding is about: the finding itself keeps only
// the first one and counts the others.
#include "view/ops.h"

enum { LOOK_MS = 400, MOST = 2000, RANGES = 1 << 16 };

// The mistake of an operation: a tool refused it, it is outside of every buffer or of its variable,
// it reads memory that was never written, or it races. The finding's own operation shows which.
typedef enum { OF_REFUSED, OF_OUTSIDE, OF_BEYOND, OF_UNWRITTEN, OF_RACE, OF_NOTHING } What;

typedef struct Search {
  ViewDesk *desk;
  What what;
  uint32_t process, before;  // before: the step before the launch
  uint64_t threads_of_block, end;
  TracePairs *pairs;
  struct {
    uint32_t allocation;
    TraceRanges ranges;
  } unwritten;
  struct {
    uint64_t address, bytes;
  } variable;  // that the site's address comes from; bytes 0: not known
  TraceOps *out;
  uint32_t cap;
  uint64_t skip, seen;
  uint32_t most;
  bool stopped;  // time is up
  uint64_t own;  // the thread of the finding
} Search;

static bool is_unwritten(Search *s, const TraceOp *op) {
  const ViewAllocation *a = view_allocation_at(s->desk, s->process, op->address, op->step);
  Error err = {{0}};
  if (!a) return false;
  if (s->unwritten.allocation != a->id) {
    trace_ranges_free(&s->unwritten.ranges);
    s->unwritten.allocation = a->id;
    if (!trace_unwritten(s->desk->trace, a->id, s->before, RANGES, &s->unwritten.ranges, &err))
      s->unwritten.ranges = (TraceRanges){0};
  }
  uint64_t at = op->address - a->base;
  const TraceRanges *r = &s->unwritten.ranges;
  for (uint32_t i = 0; i < r->n; i++)
    if (r->list[i].offset < at + op->bytes && r->list[i].offset + r->list[i].bytes > at)
      return true;
  return false;
}

static bool fits(Search *s, const TraceOp *op) {
  if (!op->has_address) return false;
  if (s->what == OF_REFUSED) return op->refused;
  if (s->what == OF_BEYOND)
    return op->space && s->variable.bytes &&
           (op->address < s->variable.address ||
            op->address + op->bytes > s->variable.address + s->variable.bytes);
  if (s->what == OF_OUTSIDE)
    return !op->space && !view_allocation_at(s->desk, s->process, op->address, op->step);
  if (s->what == OF_UNWRITTEN) return !op->space && is_unwritten(s, op);
  TraceOps others = {0};
  Error err = {{0}};
  bool races = false;
  if (!view_others_of(s->desk, op, s->threads_of_block, &others, &err)) return false;
  for (uint32_t i = 0; s->pairs && i < others.n && !races; i++)
    races = trace_pair_unordered(s->pairs, op, &others.list[i]);
  trace_ops_free(&others);
  return races;
}

static bool visit(void *user, const TraceOp *op) {
  Search *s = user;
  if (clock_ns() > s->end) s->stopped = true;
  if (s->stopped) return false;
  if (!fits(s, op) || s->seen++ < s->skip) return true;
  if (s->out->n == s->most) {
    s->out->more = true;
    return false;
  }
  if (s->out->n == s->cap) {
    s->cap = MAX(64u, s->cap * 2);
    s->out->list = mem_realloc(s->out->list, sizeof *s->out->list * s->cap);
  }
  s->out->list[s->out->n++] = *op;
  return true;
}

// The finding's own operation says what to look for.
static bool look_at_own(void *user, const TraceOp *op) {
  Search *s = user;
  if (op->thread != s->own || !op->has_address) return true;
  for (s->what = OF_REFUSED; s->what < OF_NOTHING && !fits(s, op); s->what++) {}
  return s->what == OF_NOTHING;
}

uint32_t view_sites_of_code(ViewDesk *d, uint64_t site, uint32_t *out) {
  uint32_t n = 0;
  ViewRows r = view_rows(
      d,
      "SELECT o.id FROM site s JOIN site o ON o.process = s.process AND o.module "
      "= s.module AND o.function = s.function AND o.ptx_line = s.ptx_line WHERE "
      "s.id = ? LIMIT 64",
      "i", (int64_t)site);
  while (n < VIEW_SITES && view_next(&r)) out[n++] = (uint32_t)view_column(&r, 0);
  view_rows_end(&r);
  return n;
}

static void enter_launch(Search *s, uint32_t launch) {
  ViewDesk *d = s->desk;
  uint64_t step = view_step_of_launch(d, launch);
  s->before = (uint32_t)view_one(d, "SELECT max(id) FROM step WHERE id < ?", "i", (int64_t)step);
  s->threads_of_block = MAX(view_one(d,
                                     "SELECT block_x * block_y * block_z FROM launch WHERE id = ?",
                                     "i", (int64_t)launch),
                            (uint64_t)1);
  s->unwritten.allocation = 0;
  s->pairs = trace_pairs_new(d->trace, launch);
}

static void leave_launch(Search *s) {
  trace_pairs_free(s->pairs);
  s->pairs = NULL;
}

static void look_in_launch(Search *s, uint32_t launch, const uint32_t *sites, uint32_t n) {
  Error err = {{0}};
  enter_launch(s, launch);
  trace_at_sites(s->desk->trace, &(TraceAtSites){launch, sites, n}, visit, s, &err);
  leave_launch(s);
}

// The variable in shared or local memory that the site's address comes from.
static void find_variable(Search *s, uint64_t site, uint64_t kernel) {
  ViewRows r = view_rows(s->desk,
                         "SELECT min(v.address), max(v.address + v.bytes) - min(v.address) FROM "
                         "site s JOIN kernel_variable v ON v.object = s.object AND v.kernel = ? "
                         "WHERE s.id = ? AND v.address IS NOT NULL HAVING count(*) > 0",
                         "ii", (int64_t)kernel, (int64_t)site);
  if (view_next(&r)) {
    s->variable.address = view_column(&r, 0);
    s->variable.bytes = view_column(&r, 1);
  }
  view_rows_end(&r);
}

// Chooses the sites to search: the finding's own, or the one that read the value it is about. 0:
// the recording shows neither.
static uint32_t choose_sites(Search *s, uint64_t launch, const uint64_t *candidates,
                             uint32_t *sites) {
  Error err = {{0}};
  for (int i = 0; i < 2; i++) {
    uint32_t n = candidates[i] ? view_sites_of_code(s->desk, candidates[i], sites) : 0;
    s->what = OF_NOTHING;
    if (!n) continue;
    enter_launch(s, (uint32_t)launch);
    trace_at_sites(s->desk->trace, &(TraceAtSites){(uint32_t)launch, sites, n}, look_at_own, s,
                   &err);
    leave_launch(s);
    if (s->what != OF_NOTHING) return n;
  }
  return 0;
}

// The launches of the finding's kernel, from its own on.
static void look_in_launches(Search *s, uint64_t kernel, uint64_t first, const uint32_t *sites,
                             uint32_t n) {
  VEC(uint32_t) launches = {0};
  ViewRows r = view_rows(
      s->desk, "SELECT id FROM launch WHERE kernel = ? AND id >= ? ORDER BY id LIMIT 100000", "ii",
      (int64_t)kernel, (int64_t)first);
  while (view_next(&r)) vec_push(&launches, (uint32_t)view_column(&r, 0));
  view_rows_end(&r);
  for (uint32_t i = 0; i < launches.len && !s->out->more && !s->stopped; i++)
    look_in_launch(s, launches.data[i], sites, n);
  vec_free(&launches);
}

void view_answer_occurrences(ViewDesk *d, ViewRequest *q, ViewAnswer *a) {
  uint64_t id = view_number(q, "finding", UINT32_MAX);
  Search s = {.desk = d,
              .skip = view_number_or(q, "skip", 0, UINT32_MAX),
              .most = (uint32_t)view_number_or(q, "most", 200, MOST),
              .end = clock_ns() + LOOK_MS * 1000000ull};
  if (q->error.text[0]) return;
  ViewRows r = view_rows(
      d,
      "SELECT f.site, f.extra1, f.process, l.id, l.kernel, (f.block_x + l.grid_x * (f.block_y + "
      "l.grid_y * f.block_z)) * l.block_x * l.block_y * l.block_z + f.thread_x + l.block_x * "
      "(f.thread_y + l.block_y * f.thread_z) FROM finding f LEFT JOIN launch l ON l.number = "
      "f.launch AND l.process = f.process WHERE f.id = ?",
      "i", (int64_t)id);
  if (!view_next(&r)) {
    if (view_rows_ok(&r, a)) view_fail(a, 404, "there is no such finding");
    return;
  }
  uint32_t sites[VIEW_SITES], n = 0;
  const uint64_t candidates[] = {view_column(&r, 0), view_column(&r, 1)};
  uint64_t first = view_column(&r, 3), kernel = view_column(&r, 4);
  s.process = (uint32_t)view_column(&r, 2);
  s.own = view_column(&r, 5);
  view_rows_end(&r);
  TraceOps ops = {0};
  s.out = &ops;
  find_variable(&s, candidates[0], kernel);
  if (d->trace && first) n = choose_sites(&s, first, candidates, sites);
  if (n) look_in_launches(&s, kernel, first, sites, n);
  trace_ranges_free(&s.unwritten.ranges);
  ViewFacts facts = {0};
  str_add(&a->body, "{");
  json_key(&a->body, "known");
  str_add(&a->body, n ? "true" : "false");
  json_key(&a->body, "stopped");
  str_add(&a->body, s.stopped ? "true" : "false");
  view_list_json(d, &facts, &ops, NULL, &a->body);
  view_facts_write(d, &facts, &a->body);
  str_add(&a->body, "}");
  view_facts_free(&facts);
  trace_ops_free(&ops);
}
