// Shared memory of a block and local memory of a thread.
#include "view/ops.h"

enum { MOST = 2000, BYTES_MOST = 256 << 10, FIND_MOST = 1 << 18 };

static TracePrivate what_of(ViewRequest *q) {
  return (TracePrivate){.launch = (uint32_t)view_number(q, "launch", UINT32_MAX),
                        .space = (uint8_t)view_number(q, "space", 2),
                        .block = view_number(q, "block", UINT64_MAX),
                        .thread = (uint32_t)view_number_or(q, "thread", 0, 1023),
                        .address = view_number(q, "address", UINT32_MAX),
                        .bytes = (uint32_t)view_number(q, "bytes", BYTES_MOST)};
}

static bool is_good(ViewDesk *d, ViewRequest *q, ViewAnswer *a, const TracePrivate *of) {
  if (q->error.text[0]) return false;
  if (!d->trace) view_fail(a, 404, "nothing was recorded in this run");
  else if (!of->space || !of->bytes) view_fail(a, 400, "space must be 1 or 2, bytes more than 0");
  else return true;
  return false;
}

// {"skip", "index", "ops", "phases"}; index: of the operation that record and lane name
void view_answer_private(ViewDesk *d, ViewRequest *q, ViewAnswer *a) {
  TracePrivate of = what_of(q);
  uint64_t skip = view_number_or(q, "skip", 0, UINT64_MAX),
           record = view_number_or(q, "record", 0, UINT64_MAX);
  uint32_t most = (uint32_t)view_number_or(q, "most", 200, MOST),
           lane = (uint32_t)view_number_or(q, "lane", 0, 31);
  if (!is_good(d, q, a, &of)) return;
  TracePrivateOps ops = {0};
  Error err = {{0}};
  int64_t index = -1;
  if (record && most) {
    if (!trace_of_private(d->trace, &of, 0, FIND_MOST, &ops, &err)) {
      view_fail(a, 500, err.text);
      return;
    }
    for (uint32_t i = 0; i < ops.ops.n && index < 0; i++)
      if (ops.ops.list[i].record == record && ops.ops.list[i].lane == lane) index = i;
    if (index >= 0) skip = (uint64_t)index / most * most;
    trace_private_free(&ops);
  }
  if (!trace_of_private(d->trace, &of, skip, most, &ops, &err)) {
    view_fail(a, 500, err.text);
    return;
  }
  ViewFacts facts = {0};
  Str *s = &a->body;
  str_add(s, "{");
  json_number(s, "skip", skip);
  if (index >= 0) json_number(s, "index", (uint64_t)index);
  bool *races = view_find_races(d, &ops.ops);
  view_list_json(d, &facts, &ops.ops, races, s);
  free(races);
  json_open(s, "phases", '[');
  for (uint32_t i = 0; i < ops.ops.n; i++)
    str_printf(s, "%s%llu", i ? "," : "", (unsigned long long)ops.phases[i]);
  str_add(s, "]");
  view_facts_write(d, &facts, s);
  str_add(s, "}");
  view_facts_free(&facts);
  trace_private_free(&ops);
}

// A 32-bit number of phases, then for each byte its value, for each whether it is known, for each
// whether it was read and written in the phase.
void view_answer_phase(ViewDesk *d, ViewRequest *q, ViewAnswer *a) {
  TracePrivate of = what_of(q);
  uint64_t phase = view_number(q, "phase", UINT32_MAX);
  if (!is_good(d, q, a, &of)) return;
  TracePrivateContents c = {mem_alloc(of.bytes), mem_alloc(of.bytes), mem_alloc(of.bytes), 0};
  Error err = {{0}};
  if (!trace_private_contents(d->trace, &of, phase, &c, &err)) view_fail(a, 500, err.text);
  else {
    uint32_t phases = (uint32_t)c.phases;
    a->type = "application/octet-stream";
    str_addn(&a->body, (char *)&phases, 4);
    str_addn(&a->body, (char *)c.value, of.bytes);
    str_addn(&a->body, (char *)c.known, of.bytes);
    str_addn(&a->body, (char *)c.touched, of.bytes);
  }
  free(c.value);
  free(c.known);
  free(c.touched);
}
