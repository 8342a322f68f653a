// Operations of a thread and on an element, and the writers and readers of values.
#include "view/ops.h"

enum {
  MOST = 2000,
  SEARCH = 4096,
  SEARCH_LIMIT = 1 << 20,
  CONFLICTS_ASKED = 64,
  SHARED_ASKED = 512,
  CONFLICTS_MS = 150,
  FIND_MS = 150,
  RACES_MS = 80
};

static bool has_trace(ViewDesk *d, ViewAnswer *a) {
  if (d->trace) return true;
  view_fail(a, 404,
            d->no_trace.text[0] ? d->no_trace.text
                                : "nothing was recorded in this run: warpgrind --record -o FILE …");
  return false;
}

static uint32_t process_of(ViewDesk *d, const TraceOp *op) {
  if (d->process_of.launch == op->launch && d->process_of.step == op->step && d->process_of.known)
    return d->process_of.process;
  d->process_of.process = (uint32_t)(op->launch
                                         ? view_one(d, "SELECT process FROM launch WHERE id = ?",
                                                    "i", (int64_t)op->launch)
                                         : view_one(d, "SELECT process FROM step WHERE id = ?", "i",
                                                    (int64_t)op->step));
  d->process_of.launch = op->launch;
  d->process_of.step = op->step;
  d->process_of.known = true;
  return d->process_of.process;
}

static void hex(Str *out, const uint8_t *bytes, uint32_t n) {
  static const char digits[] = "0123456789abcdef";
  for (uint32_t i = 0; i < n; i++) {
    str_addc(out, digits[bytes[i] >> 4]);
    str_addc(out, digits[bytes[i] & 15]);
  }
}

// Not printf: it took half of an answer's time.
static void digits_of(Str *out, uint64_t n) {
  char text[20], *at = text + sizeof text;
  do *--at = (char)('0' + n % 10);
  while (n /= 10);
  str_addn(out, at, (size_t)(text + sizeof text - at));
}

static void value_json(Str *out, bool known, const uint8_t *bytes, uint32_t n) {
  if (!known) {
    str_add(out, "null");
    return;
  }
  str_addc(out, '"');
  hex(out, bytes, MIN(n, 16));
  str_addc(out, '"');
}

// [record, lane, kind, step, launch, thread, site, bytes, address, value, old, flags, allocation,
// offset] address: null where it has none; values: bytes as they are in memory; flags: 1 the value
// follows from what was written before, 2 shared memory, 4 local memory, 8 races with another of
// the list, 16 a tool refused it, and it was not executed
static void op_json(ViewDesk *d, ViewFacts *facts, const TraceOp *op, uint32_t process, bool races,
                    Str *out) {
  const ViewAllocation *in = op->has_address && op->space == 0
                                 ? view_allocation_at(d, process, op->address, op->step)
                                 : NULL;
  const uint64_t head[] = {op->record, op->lane,   (uint64_t)op->kind, op->step,
                           op->launch, op->thread, op->site,           op->bytes};
  for (size_t i = 0; i < ARRAY_LEN(head); i++) {
    str_addc(out, i ? ',' : '[');
    digits_of(out, head[i]);
  }
  str_addc(out, ',');
  if (op->has_address) str_printf(out, "\"0x%llx\",", (unsigned long long)op->address);
  else str_add(out, "null,");
  value_json(out, op->value_known, op->value, op->bytes);
  str_addc(out, ',');
  value_json(out, op->old_known, op->old, op->bytes);
  const uint64_t tail[] = {(op->from_replay ? 1u : 0u) | (op->space & 3u) << 1 | (races ? 8u : 0u) |
                               (op->refused ? 16u : 0u),
                           in ? in->id : 0, in ? op->address - in->base : 0};
  for (size_t i = 0; i < ARRAY_LEN(tail); i++) {
    str_addc(out, ',');
    digits_of(out, tail[i]);
  }
  str_addc(out, ']');
  view_facts_op(d, facts, op, in ? in->id : 0);
}

void view_list_json(ViewDesk *d, ViewFacts *facts, const TraceOps *ops, const bool *races,
                    Str *out) {
  json_open(out, "ops", '[');
  uint32_t launch = 0, step = 0, process = 0;
  for (uint32_t i = 0; i < ops->n; i++) {
    const TraceOp *op = &ops->list[i];
    if (i == 0 || op->launch != launch || op->step != step) {
      process = process_of(d, op);
      launch = op->launch;
      step = op->step;
    }
    if (i) str_addc(out, ',');
    op_json(d, facts, op, process, races && races[i], out);
  }
  str_add(out, "]");
  json_key(out, "more");
  str_add(out, ops->more ? "true" : "false");
  if (ops->some) {
    json_key(out, "some");
    str_add(out, "true");
  }
  if (ops->total_known) json_number(out, "total", ops->total);
}

typedef struct Place {
  uint64_t address;
  uint32_t op;
} Place;

static int by_address(const void *p, const void *q) {
  const Place *a = p, *b = q;
  return a->address != b->address ? (a->address > b->address ? 1 : -1)
                                  : (a->op > b->op) - (a->op < b->op);
}

// Operations first to next of a launch: only those that overlap are compared.
static void races_of_launch(TracePairs *p, const TraceOps *ops, uint32_t first, uint32_t next,
                            uint64_t end, bool *out) {
  Place *places = mem_alloc(sizeof *places * (next - first));
  uint32_t n = 0, longest = 0;
  for (uint32_t i = first; i < next; i++) {
    const TraceOp *op = &ops->list[i];
    if (!op->has_address) continue;
    places[n++] = (Place){(uint64_t)op->space << 62 | op->address, i};
    longest = MAX(longest, op->bytes);
  }
  qsort(places, n, sizeof *places, by_address);
  for (uint32_t i = 0; i < n && clock_ns() < end; i++)
    for (uint32_t k = i + 1; k < n && places[k].address < places[i].address + longest; k++) {
      uint32_t a = places[i].op, b = places[k].op;
      if (k % 64 == 0 && clock_ns() >= end) break;
      if (!(out[a] && out[b]) && trace_pair_unordered(p, &ops->list[a], &ops->list[b]))
        out[a] = out[b] = true;
    }
  free(places);
}

// Operations of a list that are unordered with another one of the same launch. Stops after a short
// time with what it has: the result is a hint, like that of conflicts.
bool *view_find_races(ViewDesk *d, const TraceOps *ops) {
  bool *out = mem_alloc(ops->n + 1);
  uint64_t end = d->without_facts ? UINT64_MAX : clock_ns() + RACES_MS * 1000000ull;
  for (uint32_t i = 0, next; i < ops->n; i = next) {
    for (next = i + 1; next < ops->n && ops->list[next].launch == ops->list[i].launch; next++) {}
    TracePairs *p = ops->list[i].launch && next > i + 1
                        ? trace_pairs_new(d->trace, ops->list[i].launch)
                        : NULL;
    if (p) races_of_launch(p, ops, i, next, end, out);
    trace_pairs_free(p);
  }
  return out;
}

// followed: an operation that is not among those of the page, or NULL; index: of the one that is
// wanted, -1: none
typedef struct OpsPage {
  uint64_t skip;
  int64_t index;
  const TraceOp *followed;
  bool with_races;
} OpsPage;

static void answer_ops(ViewDesk *d, ViewAnswer *a, TraceOps *ops, const OpsPage *page) {
  ViewFacts facts = {0};
  const TraceOp *followed = page->followed;
  str_add(&a->body, "{");
  json_number(&a->body, "skip", page->skip);
  if (page->index >= 0) json_number(&a->body, "index", (uint64_t)page->index);
  bool *races = page->with_races ? view_find_races(d, ops) : NULL;
  view_list_json(d, &facts, ops, races, &a->body);
  free(races);
  if (followed) {
    json_key(&a->body, "followed");
    op_json(d, &facts, followed, process_of(d, followed), false, &a->body);
  }
  view_facts_write(d, &facts, &a->body);
  str_add(&a->body, "}");
  view_facts_free(&facts);
  trace_ops_free(ops);
}

// by_step: the last one up to that step, with write the last that writes
typedef struct Wanted {
  bool by_record, by_address, by_step, write;
  uint64_t record, address;
  uint32_t lane, step, nsites;
  uint32_t sites[VIEW_SITES];  // by_address: of one of these instructions, if there are any
} Wanted;

static bool is_write(const TraceOp *op) {
  return op->kind == TRACE_STORE || op->kind == TRACE_ATOMIC || op->kind == TRACE_SET ||
         (op->kind == TRACE_COPY && op->lane == 0);
}

static bool is_wanted(const Wanted *w, const TraceOp *op) {
  if (w->by_record) return op->record == w->record && op->lane == w->lane;
  bool is_of_code = !w->nsites;
  for (uint32_t i = 0; i < w->nsites && !is_of_code; i++) is_of_code = op->site == w->sites[i];
  return is_of_code && op->has_address && w->address - op->address < op->bytes &&
         (!w->write || op->kind == TRACE_STORE || op->kind == TRACE_ATOMIC);
}

static Wanted what_is_wanted(ViewRequest *q) {
  Wanted w = {.by_record = view_given(q, "record"),
              .by_address = view_given(q, "address") && !view_given(q, "allocation")};
  if (w.by_record) {
    w.record = view_number(q, "record", UINT64_MAX);
    w.lane = (uint32_t)view_number(q, "lane", 31);
  } else if (w.by_address) {
    w.address = view_address(q, "address");
    w.write = view_number_or(q, "write", 0, 1) != 0;
  } else if (view_given(q, "step")) {
    w.by_step = true;
    w.step = (uint32_t)view_number(q, "step", UINT32_MAX);
    w.write = view_number_or(q, "write", 0, 1) != 0;
  }
  return w;
}

// A question whose answers come in pages: the operations of a thread or of an element.
typedef struct Question {
  bool of_thread;
  uint32_t launch, allocation, bytes;
  uint64_t thread, address;
} Question;
static bool ask(ViewDesk *d, const Question *of, uint64_t skip, uint32_t most, TraceOps *ops,
                Error *err) {
  *ops = (TraceOps){0};
  return of->of_thread
             ? trace_of_thread(d->trace, of->launch, of->thread, (TracePage){skip, most}, ops, err)
             : trace_of_element(d->trace, of->allocation, (TraceBytes){of->address, of->bytes},
                                (TracePage){skip, most}, ops, err);
}

static bool find_in_element(ViewDesk *d, const Question *of, const Wanted *w, int64_t *index,
                            Error *err) {
  TraceSought sought = {.record = w->by_record ? w->record : 0,
                        .lane = w->lane,
                        .step = w->step,
                        .writes_only = w->write,
                        .first = SEARCH,
                        .most = SEARCH_LIMIT,
                        .deadline = clock_ns() + FIND_MS * 1000000ull};
  return trace_element_index(d->trace, of->allocation, (TraceBytes){of->address, of->bytes},
                             &sought, index, err);
}

// The number of the first operation that is wanted; -1: not found within a short time.
static bool find(ViewDesk *d, const Question *of, const Wanted *w, int64_t *index, Error *err) {
  if (!of->of_thread && (w->by_step || (w->by_record && w->record)))
    return find_in_element(d, of, w, index, err);
  uint64_t end = clock_ns() + FIND_MS * 1000000ull;
  for (uint64_t at = 0;
       (w->by_step || *index < 0) && at < SEARCH_LIMIT && (at == 0 || clock_ns() < end);
       at += SEARCH) {
    TraceOps ops;
    if (!ask(d, of, at, SEARCH, &ops, err)) return false;
    bool more = ops.more;
    for (uint32_t i = 0; i < ops.n && (w->by_step || *index < 0); i++) {
      if (w->by_step && ops.list[i].step > w->step) more = false;
      else if (w->by_step ? !w->write || is_write(&ops.list[i]) : is_wanted(w, &ops.list[i]))
        *index = (int64_t)(at + i);
    }
    trace_ops_free(&ops);
    if (!more) break;
  }
  return true;
}

// The page that was asked for, or the one with the operation that is wanted.
static void answer_page(ViewDesk *d, ViewRequest *q, ViewAnswer *a, const Question *of) {
  uint32_t most = (uint32_t)view_number_or(q, "most", 200, MOST);
  uint64_t skip = view_number_or(q, "skip", 0, UINT64_MAX);
  uint64_t code = view_number_or(q, "code", 0, UINT32_MAX);
  Wanted w = what_is_wanted(q);
  if (q->error.text[0] || !has_trace(d, a)) return;
  if (w.by_address && code) w.nsites = view_sites_of_code(d, code, w.sites);
  TraceOps ops;
  Error err = {{0}};
  int64_t index = -1;
  if (w.by_record || w.by_address || w.by_step) {
    bool found = find(d, of, &w, &index, &err);
    if (found && index < 0 && w.nsites) {  // another instruction made the access there
      w.nsites = 0;
      found = find(d, of, &w, &index, &err);
    }
    if (!found) {
      view_fail(a, 500, err.text);
      return;
    }
    if (index >= 0 && most) skip = (uint64_t)index / most * most;
  }
  TraceOp one;
  bool ok = ask(d, of, skip, most, &ops, &err),
       elsewhere = ok && index < 0 && w.by_record &&
                   trace_one(d->trace, w.record, w.lane, &one, &err);
  if (ok) answer_ops(d, a, &ops, &(OpsPage){skip, index, elsewhere ? &one : NULL, !of->of_thread});
  else view_fail(a, 500, err.text);
}

void view_answer_thread(ViewDesk *d, ViewRequest *q, ViewAnswer *a) {
  Question of = {.of_thread = true,
                 .launch = (uint32_t)view_number(q, "launch", UINT32_MAX),
                 .thread = view_number(q, "thread", UINT64_MAX)};
  answer_page(d, q, a, &of);
}

// Sites of a line of a file, those of the record tool and those of others.
static uint32_t *sites_of_line(ViewDesk *d, uint64_t file, uint64_t line, uint32_t *n) {
  VEC(uint32_t) all = {0};
  const char *path = view_file_name(d, (uint32_t)file);
  ViewRows r = view_rows(d,
                         "SELECT DISTINCT site FROM place WHERE line = ? AND file = ? LIMIT 10000",
                         "it", (int64_t)line, path ? path : "");
  while (view_next(&r)) vec_push(&all, (uint32_t)view_column(&r, 0));
  vec_push(&all, 0);  // no site: never NULL
  *n = all.len;
  return all.data;
}

void view_answer_thread_search(ViewDesk *d, ViewRequest *q, ViewAnswer *a) {
  TraceThreadSearch what = {.launch = (uint32_t)view_number(q, "launch", UINT32_MAX),
                            .thread = view_number(q, "thread", UINT64_MAX),
                            .skip = view_number_or(q, "skip", 0, UINT64_MAX),
                            .most = (uint32_t)view_number_or(q, "most", 200, MOST),
                            .kinds = (uint32_t)view_number_or(q, "kinds", 0, 127)};
  uint64_t line = view_number_or(q, "line", 0, UINT32_MAX),
           file = view_number_or(q, "file", 0, 1 << 20),
           allocation = view_number_or(q, "allocation", 0, UINT32_MAX);
  if (q->error.text[0] || !has_trace(d, a)) return;
  const ViewAllocation *in = allocation ? view_allocation(d, (uint32_t)allocation) : NULL;
  uint32_t *sites = line ? sites_of_line(d, file, line, &what.nsites) : NULL;
  what.sites = sites;
  if (in) {
    what.low = in->base;
    what.high = in->base + in->size;
  }
  TraceThreadFound found = {0};
  Error err = {{0}};
  ViewFacts facts = {0};
  if (!trace_thread_search(d->trace, &what, &found, &err)) view_fail(a, 500, err.text);
  else {
    str_add(&a->body, "{");
    json_number(&a->body, "skip", what.skip);
    json_number(&a->body, "all", found.all);
    view_list_json(d, &facts, &found.ops, NULL, &a->body);
    json_open(&a->body, "numbers", '[');
    for (uint32_t i = 0; i < found.ops.n; i++)
      str_printf(&a->body, "%s%llu", i ? "," : "", (unsigned long long)found.numbers[i]);
    str_add(&a->body, "]");
    view_facts_write(d, &facts, &a->body);
    str_add(&a->body, "}");
  }
  view_facts_free(&facts);
  trace_thread_found_free(&found);
  free(sites);
}

void view_answer_element(ViewDesk *d, ViewRequest *q, ViewAnswer *a) {
  Question of = {.allocation = (uint32_t)view_number(q, "allocation", UINT32_MAX),
                 .bytes = (uint32_t)view_number_or(q, "bytes", 4, 1 << 20),
                 .address = view_address(q, "address")};
  answer_page(d, q, a, &of);
}

static uint64_t threads_of(ViewDesk *d, uint32_t launch) {
  return view_one(
      d, "SELECT grid_x * grid_y * grid_z * block_x * block_y * block_z FROM launch WHERE id = ?",
      "i", (int64_t)launch);
}

bool view_others_of(ViewDesk *d, const TraceOp *op, uint64_t threads_of_block, TraceOps *out,
                    Error *err) {
  if (!op->space)
    return trace_touching(d->trace, op->launch, (TraceBytes){op->address, op->bytes},
                          (TracePage){0, CONFLICTS_ASKED}, out, err);
  TracePrivateOps all = {0};
  TracePrivate of = {.launch = op->launch,
                     .space = op->space,
                     .block = op->thread / threads_of_block,
                     .address = op->address,
                     .bytes = op->bytes};
  if (!trace_of_private(d->trace, &of, 0, SHARED_ASKED, &all, err)) return false;
  *out = all.ops;
  free(all.phases);
  return true;
}

// {"of":[[index, [op, …]], …]}: index counts from skip. Stops after a short time with what it has:
// the result is a hint.
void view_answer_operation(ViewDesk *d, ViewRequest *q, ViewAnswer *a) {
  uint64_t record = view_number(q, "record", INT64_MAX), lane = view_number(q, "lane", 31);
  if (q->error.text[0] || !has_trace(d, a)) return;
  TraceOps ops = {.list = mem_alloc(sizeof *ops.list), .n = 1};
  Error err = {{0}};
  if (trace_one(d->trace, record, (uint32_t)lane, ops.list, &err))
    answer_ops(d, a, &ops, &(OpsPage){.index = -1});
  else {
    trace_ops_free(&ops);
    view_fail(a, 404, err.text);
  }
}

void view_answer_conflicts(ViewDesk *d, ViewRequest *q, ViewAnswer *a) {
  uint32_t launch = (uint32_t)view_number(q, "launch", UINT32_MAX),
           most = (uint32_t)view_number_or(q, "most", 200, MOST);
  uint64_t thread = view_number(q, "thread", UINT64_MAX),
           skip = view_number_or(q, "skip", 0, UINT64_MAX);
  if (q->error.text[0] || !has_trace(d, a)) return;
  TraceOps ops = {0};
  Error err = {{0}};
  if (!trace_of_thread(d->trace, launch, thread, (TracePage){skip, most}, &ops, &err)) {
    view_fail(a, 500, err.text);
    return;
  }
  ViewFacts facts = {0};
  uint32_t process = ops.n ? process_of(d, &ops.list[0]) : 0;
  uint64_t per_block = MAX(view_one(d,
                                    "SELECT block_x * block_y * block_z FROM launch WHERE id = ?",
                                    "i", (int64_t)launch),
                           (uint64_t)1);
  uint64_t end = threads_of(d, launch) > 1 ? clock_ns() + CONFLICTS_MS * 1000000ull : 0;
  TracePairs *pairs = trace_pairs_new(d->trace, launch);
  str_add(&a->body, "{");
  json_open(&a->body, "of", '[');
  for (uint32_t i = 0; i < ops.n; i++) {
    const TraceOp *op = &ops.list[i];
    if (clock_ns() > end) break;
    // a thread's own memory is not shared
    if (!op->has_address || op->space > 1 ||
        (op->space == 0 && !view_allocation_at(d, process, op->address, op->step)))
      continue;
    TraceOps others = {0};
    if (!view_others_of(d, op, per_block, &others, &err)) {
      view_fail(a, 500, err.text);
      break;
    }
    bool begun = false;
    for (uint32_t k = 0; k < others.n && clock_ns() < end; k++) {
      const TraceOp *other = &others.list[k];
      if (!pairs || !trace_pair_unordered(pairs, op, other)) continue;
      if (!begun) {
        json_open(&a->body, NULL, '[');
        str_printf(&a->body, "%u,[", i);
      } else str_addc(&a->body, ',');
      op_json(d, &facts, other, process, true, &a->body);
      begun = true;
    }
    if (begun) str_add(&a->body, "]]");
    trace_ops_free(&others);
  }
  if (a->status == 200) {
    str_add(&a->body, "]");
    view_facts_write(d, &facts, &a->body);
    str_add(&a->body, "}");
  }
  view_facts_free(&facts);
  trace_ops_free(&ops);
  trace_pairs_free(pairs);
}

void view_answer_writers(ViewDesk *d, ViewRequest *q, ViewAnswer *a) {
  uint64_t record = view_number(q, "record", UINT64_MAX);
  uint32_t lane = (uint32_t)view_number(q, "lane", 31),
           all = (uint32_t)view_number_or(q, "all", 0, 1);
  if (q->error.text[0] || !has_trace(d, a)) return;
  TraceWriters w = {0};
  Error err = {{0}};
  ViewFacts facts = {0};
  if (!trace_writers(d->trace, record, lane, all, &w, &err)) {
    view_fail(a, 500, err.text);
    return;
  }
  str_add(&a->body, "{");
  json_key(&a->body, "ambiguous");
  str_add(&a->body, w.ambiguous ? "true" : "false");
  json_key(&a->body, "never_written");
  str_add(&a->body, w.never_written ? "true" : "false");
  json_key(&a->body, "some");
  str_add(&a->body, w.some ? "true" : "false");
  json_text(&a->body, "why", w.why);
  view_list_json(d, &facts, &w.ops, NULL, &a->body);
  view_facts_write(d, &facts, &a->body);
  str_add(&a->body, "}");
  view_facts_free(&facts);
  trace_ops_free(&w.ops);
}

void view_answer_readers(ViewDesk *d, ViewRequest *q, ViewAnswer *a) {
  uint64_t record = view_number(q, "record", UINT64_MAX),
           skip = view_number_or(q, "skip", 0, UINT64_MAX);
  uint32_t lane = (uint32_t)view_number(q, "lane", 31),
           most = (uint32_t)view_number_or(q, "most", 200, MOST),
           all = (uint32_t)view_number_or(q, "all", 0, 1);
  if (q->error.text[0] || !has_trace(d, a)) return;
  TraceOps ops = {0};
  Error err = {{0}};
  bool ok = trace_readers(d->trace, (TraceOpId){record, lane}, (TracePage){skip, most}, all, &ops,
                          &err);
  if (ok) answer_ops(d, a, &ops, &(OpsPage){.skip = skip, .index = -1});
  else view_fail(a, 500, err.text);
}

void view_answer_touching(ViewDesk *d, ViewRequest *q, ViewAnswer *a) {
  uint64_t address = view_address(q, "address"), skip = view_number_or(q, "skip", 0, UINT64_MAX);
  uint32_t launch = (uint32_t)view_number(q, "launch", UINT32_MAX),
           bytes = (uint32_t)view_number_or(q, "bytes", 4, 1 << 20);
  uint32_t most = (uint32_t)view_number_or(q, "most", 200, MOST);
  if (q->error.text[0] || !has_trace(d, a)) return;
  TraceOps ops = {0};
  Error err = {{0}};
  bool ok = trace_touching(d->trace, launch, (TraceBytes){address, bytes}, (TracePage){skip, most},
                           &ops, &err);
  if (ok) answer_ops(d, a, &ops, &(OpsPage){.skip = skip, .index = -1});
  else view_fail(a, 500, err.text);
}

// Races that were found before and kept in the file; false: none were looked for yet.
static bool kept_races(ViewDesk *d, uint32_t launch, TraceRaces *out) {
  if (!view_one(d, "SELECT count(*) FROM meta WHERE key = 'races_found'", "")) return false;
  VEC(TraceRace) all = {0};
  Error err = {{0}};
  ViewRows r = view_rows(d,
                         "SELECT first_record, first_lane, second_record, second_lane, count, kind "
                         "FROM race_found WHERE launch = ? LIMIT 10000",
                         "i", (int64_t)launch);
  while (view_next(&r)) {
    TraceRace x = {.count = view_column(&r, 4), .class = (TraceRaceClass)view_column(&r, 5)};
    if (x.class < RACE_CLASSES &&
        trace_one(d->trace, view_column(&r, 0), (uint32_t)view_column(&r, 1) & 31, &x.first,
                  &err) &&
        trace_one(d->trace, view_column(&r, 2), (uint32_t)view_column(&r, 3) & 31, &x.second, &err))
      vec_push(&all, x);
  }
  *out = (TraceRaces){.list = all.data, .n = all.len, .order_known = trace_knows_order(d->db)};
  return true;
}

void view_answer_races(ViewDesk *d, ViewRequest *q, ViewAnswer *a) {
  uint32_t launch = (uint32_t)view_number(q, "launch", UINT32_MAX);
  if (q->error.text[0] || !has_trace(d, a)) return;
  TraceRaces races = {0};
  Error err = {{0}};
  ViewFacts facts = {0};
  if (!kept_races(d, launch, &races) && !trace_races(d->trace, launch, &races, &err)) {
    view_fail(a, 500, err.text);
    return;
  }
  str_add(&a->body, "{");
  json_open(&a->body, "races", '[');
  for (uint32_t i = 0; i < races.n; i++) {
    const TraceRace *r = &races.list[i];
    json_open(&a->body, NULL, '[');
    op_json(d, &facts, &r->first, process_of(d, &r->first), true, &a->body);
    str_addc(&a->body, ',');
    op_json(d, &facts, &r->second, process_of(d, &r->second), true, &a->body);
    str_printf(&a->body, ",%llu,\"%s\"]", (unsigned long long)r->count, trace_race_names[r->class]);
  }
  str_add(&a->body, "]");
  if (!races.order_known) json_text(&a->body, "note", trace_order_unknown);
  view_facts_write(d, &facts, &a->body);
  str_add(&a->body, "}");
  view_facts_free(&facts);
  free(races.list);
}
