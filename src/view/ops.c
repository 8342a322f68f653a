// Operations: of a thread, on an element, and who wrote or read what.
#include "view/internal.h"

enum {
  MOST = 2000,
  SEARCH = 4096,
  SEARCH_LIMIT = 1 << 20,
  CONFLICTS_ASKED = 64,
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
// the list
static void op_json(ViewDesk *d, ViewFacts *facts, const TraceOp *op, uint32_t process, bool races,
                    Str *out) {
  const ViewAllocation *in = op->has_address && op->space == 0
                                 ? view_allocation_at(d, process, op->address, op->step)
                                 : NULL;
  str_printf(out, "[%llu,%u,%d,%u,%u,%llu,%u,%u,", (unsigned long long)op->record, op->lane,
             (int)op->kind, op->step, op->launch, (unsigned long long)op->thread, op->site,
             op->bytes);
  if (op->has_address) str_printf(out, "\"0x%llx\",", (unsigned long long)op->address);
  else str_add(out, "null,");
  value_json(out, op->value_known, op->value, op->bytes);
  str_addc(out, ',');
  value_json(out, op->old_known, op->old, op->bytes);
  str_printf(out, ",%d,%u,%llu]",
             (op->from_replay ? 1 : 0) | (op->space & 3) << 1 | (races ? 8 : 0), in ? in->id : 0,
             (unsigned long long)(in ? op->address - in->base : 0));
  view_facts_op(d, facts, op, in ? in->id : 0);
}

// races: for each, or NULL
static void list_json(ViewDesk *d, ViewFacts *facts, const TraceOps *ops, const bool *races,
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

// Operations of a list that nothing orders against another one of the same launch. What is not
// found within a moment is left out: it is a hint, like that of conflicts.
static bool *find_races(ViewDesk *d, const TraceOps *ops) {
  bool *out = mem_alloc(ops->n + 1);
  uint64_t end = d->without_facts ? UINT64_MAX : clock_ns() + RACES_MS * 1000000ull;
  for (uint32_t i = 0, next; i < ops->n; i = next) {
    for (next = i + 1; next < ops->n && ops->list[next].launch == ops->list[i].launch; next++) {}
    TracePairs *p = ops->list[i].launch && next > i + 1
                        ? trace_pairs_new(d->trace, ops->list[i].launch)
                        : NULL;
    for (uint32_t a = i; p && a < next; a++)
      for (uint32_t b = a + 1; b < next && (clock_ns() < end); b++)
        if (!(out[a] && out[b]) && trace_pair_unordered(p, &ops->list[a], &ops->list[b]))
          out[a] = out[b] = true;
    trace_pairs_free(p);
  }
  return out;
}

// followed: an operation that is not among those of the page, or NULL
static void answer_ops(ViewDesk *d, ViewAnswer *a, bool ok, TraceOps *ops, const Error *err,
                       uint64_t skip, int64_t index, const TraceOp *followed, bool with_races) {
  ViewFacts facts = {0};
  if (!ok) {
    view_fail(a, 500, err->text);
    return;
  }
  str_add(&a->body, "{");
  json_number(&a->body, "skip", skip);
  if (index >= 0) json_number(&a->body, "index", (uint64_t)index);
  bool *races = with_races ? find_races(d, ops) : NULL;
  list_json(d, &facts, ops, races, &a->body);
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

typedef struct Wanted {
  bool by_record, by_address, write;
  uint64_t record, address;
  uint32_t lane;
} Wanted;

static bool is_wanted(const Wanted *w, const TraceOp *op) {
  if (w->by_record) return op->record == w->record && op->lane == w->lane;
  return op->has_address && w->address - op->address < op->bytes &&
         (!w->write || op->kind == TRACE_STORE || op->kind == TRACE_ATOMIC);
}

static Wanted what_is_wanted(ViewRequest *q) {
  Wanted w = {.by_record = view_given(q, "record"),
              .by_address = view_given(q, "address") && !view_given(q, "allocation")};
  if (w.by_record) {
    w.record = view_number(q, "record", UINT64_MAX);
    w.lane = (uint32_t)view_number(q, "lane", 31);
  } else if (w.by_address)
    w.address = view_address(q, "address"), w.write = view_number_or(q, "write", 0, 1) != 0;
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
  return of->of_thread ? trace_of_thread(d->trace, of->launch, of->thread, skip, most, ops, err)
                       : trace_of_element(d->trace, of->allocation, of->address, of->bytes, skip,
                                          most, ops, err);
}

// The number of the first operation that is wanted; -1: none of those that were looked at in a
// moment.
static bool find(ViewDesk *d, const Question *of, const Wanted *w, int64_t *index, Error *err) {
  uint64_t end = clock_ns() + FIND_MS * 1000000ull;
  for (uint64_t at = 0; *index < 0 && at < SEARCH_LIMIT && (at == 0 || clock_ns() < end);
       at += SEARCH) {
    TraceOps ops;
    if (!ask(d, of, at, SEARCH, &ops, err)) return false;
    for (uint32_t i = 0; i < ops.n && *index < 0; i++)
      if (is_wanted(w, &ops.list[i])) *index = (int64_t)(at + i);
    bool more = ops.more;
    trace_ops_free(&ops);
    if (!more) break;
  }
  return true;
}

// The page that was asked for, or the one with the operation that is wanted.
static void answer_page(ViewDesk *d, ViewRequest *q, ViewAnswer *a, const Question *of) {
  uint32_t most = (uint32_t)view_number_or(q, "most", 200, MOST);
  uint64_t skip = view_number_or(q, "skip", 0, UINT64_MAX);
  Wanted w = what_is_wanted(q);
  if (q->error.text[0] || !has_trace(d, a)) return;
  TraceOps ops;
  Error err = {{0}};
  int64_t index = -1;
  if (w.by_record || w.by_address) {
    if (!find(d, of, &w, &index, &err)) {
      view_fail(a, 500, err.text);
      return;
    }
    if (index >= 0 && most) skip = (uint64_t)index / most * most;
  }
  TraceOp one;
  bool ok = ask(d, of, skip, most, &ops, &err),
       elsewhere = ok && index < 0 && w.by_record &&
                   trace_one(d->trace, w.record, w.lane, &one, &err);
  answer_ops(d, a, ok, &ops, &err, skip, index, elsewhere ? &one : NULL, !of->of_thread);
}

void view_answer_thread(ViewDesk *d, ViewRequest *q, ViewAnswer *a) {
  Question of = {.of_thread = true,
                 .launch = (uint32_t)view_number(q, "launch", UINT32_MAX),
                 .thread = view_number(q, "thread", UINT64_MAX)};
  answer_page(d, q, a, &of);
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

// {"of":[[index, [op, …]], …]}: index counts from skip. What is not found within a moment is left
// out: it is a hint.
void view_answer_conflicts(ViewDesk *d, ViewRequest *q, ViewAnswer *a) {
  uint32_t launch = (uint32_t)view_number(q, "launch", UINT32_MAX),
           most = (uint32_t)view_number_or(q, "most", 200, MOST);
  uint64_t thread = view_number(q, "thread", UINT64_MAX),
           skip = view_number_or(q, "skip", 0, UINT64_MAX);
  if (q->error.text[0] || !has_trace(d, a)) return;
  TraceOps ops = {0};
  Error err = {{0}};
  if (!trace_of_thread(d->trace, launch, thread, skip, most, &ops, &err)) {
    view_fail(a, 500, err.text);
    return;
  }
  ViewFacts facts = {0};
  uint32_t process = ops.n ? process_of(d, &ops.list[0]) : 0;
  uint64_t end = threads_of(d, launch) > 1 ? clock_ns() + CONFLICTS_MS * 1000000ull : 0;
  TracePairs *pairs = trace_pairs_new(d->trace, launch);
  str_add(&a->body, "{");
  json_open(&a->body, "of", '[');
  for (uint32_t i = 0; i < ops.n; i++) {
    const TraceOp *op = &ops.list[i];
    if (clock_ns() > end) break;
    // a block's own memory is not shared
    if (!op->has_address || op->space != 0 ||
        !view_allocation_at(d, process, op->address, op->step))
      continue;
    TraceOps others = {0};
    if (!trace_touching(d->trace, launch, op->address, op->bytes, 0, CONFLICTS_ASKED, &others,
                        &err)) {
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
  list_json(d, &facts, &w.ops, NULL, &a->body);
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
  bool ok = trace_readers(d->trace, record, lane, skip, most, all, &ops, &err);
  answer_ops(d, a, ok, &ops, &err, skip, -1, NULL, false);
}

void view_answer_touching(ViewDesk *d, ViewRequest *q, ViewAnswer *a) {
  uint64_t address = view_address(q, "address"), skip = view_number_or(q, "skip", 0, UINT64_MAX);
  uint32_t launch = (uint32_t)view_number(q, "launch", UINT32_MAX),
           bytes = (uint32_t)view_number_or(q, "bytes", 4, 1 << 20);
  uint32_t most = (uint32_t)view_number_or(q, "most", 200, MOST);
  if (q->error.text[0] || !has_trace(d, a)) return;
  TraceOps ops = {0};
  Error err = {{0}};
  bool ok = trace_touching(d->trace, launch, address, bytes, skip, most, &ops, &err);
  answer_ops(d, a, ok, &ops, &err, skip, -1, NULL, false);
}

void view_answer_races(ViewDesk *d, ViewRequest *q, ViewAnswer *a) {
  uint32_t launch = (uint32_t)view_number(q, "launch", UINT32_MAX);
  if (q->error.text[0] || !has_trace(d, a)) return;
  TraceRaces races = {0};
  Error err = {{0}};
  ViewFacts facts = {0};
  if (!trace_races(d->trace, launch, &races, &err)) {
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
