// The run as a whole: its facts, its launches and copies in order, its buffers.
#include "view/internal.h"

enum { FLOW_MOST = 100000, BUFFERS_MOST = 100000 };

void view_answer_run(ViewDesk *d, ViewRequest *q, ViewAnswer *a) {
  Str *s = &a->body;
  str_add(s, "{");
  json_text(s, "file", strrchr(d->path, '/') ? strrchr(d->path, '/') + 1 : d->path);
  json_text(s, "version", WARPGRIND_VERSION);
  json_open(s, "meta", '{');
  ViewRows r = view_rows(d, "SELECT key, value FROM meta WHERE value IS NOT NULL LIMIT 200", "");
  while (view_next(&r)) {
    const char *key = view_column_text(&r, 0);
    // json_key takes names only
    if (!key || strspn(key, "abcdefghijklmnopqrstuvwxyz_0123456789") != strlen(key)) continue;
    json_text(s, key, view_column_text(&r, 1));
  }
  str_add(s, "}");
  if (!view_rows_ok(&r, a)) return;
  const struct {
    const char *key, *sql;
  } counts[] = {{"launches", "SELECT count(*) FROM launch"},
                {"steps", "SELECT count(*) FROM step"},
                {"buffers", "SELECT count(*) FROM allocation"},
                {"findings", "SELECT count(*) FROM finding WHERE suppressed = 0"}};
  for (size_t i = 0; i < ARRAY_LEN(counts); i++)
    json_number(s, counts[i].key, view_one(d, counts[i].sql, ""));
  json_key(s, "live");
  str_add(s, d->live ? "true" : "false");
  json_key(s, "recorded");
  str_add(s, d->trace ? "true" : "false");
  if (d->trace) json_number(s, "operations", trace_count(d->trace));
  else
    json_text(s, "not_recorded",
              d->no_trace.text[0] ? d->no_trace.text : "nothing was recorded in this run");
  str_add(s, "}");
}

void view_answer_buffers(ViewDesk *d, ViewRequest *q, ViewAnswer *a) {
  uint64_t skip = view_number_or(q, "skip", 0, UINT32_MAX),
           most = view_number_or(q, "most", 1000, BUFFERS_MOST);
  if (q->error.text[0]) return;
  str_add(&a->body, "{");
  json_number(&a->body, "total", d->allocations.len);
  json_open(&a->body, "buffers", '[');
  for (uint64_t i = skip; i < d->allocations.len && i < skip + most; i++) {
    if (i > skip) str_addc(&a->body, ',');
    view_allocation_json(d, &d->allocations.data[i], &a->body);
  }
  str_add(&a->body, "]}");
}

static void kernel_names(ViewDesk *d, ViewAnswer *a) {
  json_open(&a->body, "kernels", '{');
  ViewRows r = view_rows(d, "SELECT id, coalesce(readable, name) FROM kernel LIMIT 100000", "");
  while (view_next(&r)) {
    char id[24];
    snprintf(id, sizeof id, "%llu", (unsigned long long)view_column(&r, 0));
    json_text(&a->body, id, view_column_text(&r, 1) ? view_column_text(&r, 1) : "?");
  }
  str_add(&a->body, "}");
}

// The buffers that the launches of a page use, in order of the launches: read in one pass, because
// the table has no index. uses: TRACE_READS, TRACE_WRITES; 0: only passed as an argument
typedef struct Use {
  uint32_t launch, allocation, uses;
} Use;
typedef struct UseList {
  ViewDesk *desk;
  Use *data;
  uint32_t len, cap;
  uint32_t launch;  // being read now
} UseList;

static int by_launch(const void *a, const void *b) {
  const Use *x = a, *y = b;
  if (x->launch != y->launch) return x->launch < y->launch ? -1 : 1;
  return x->allocation != y->allocation ? (x->allocation < y->allocation ? -1 : 1)
                                        : (x->uses < y->uses) - (x->uses > y->uses);
}

static void add_use(void *user, uint32_t allocation, unsigned how) {
  UseList *list = user;
  vec_push(list, ((Use){list->launch, allocation, how}));
}

// Pointers in parameters, also inside of structs: all that is known of launches that were not
// recorded.
static void read_given(ViewDesk *d, uint64_t first, uint64_t last, UseList *out) {
  ViewRows r = view_rows(d,
                         "SELECT p.launch, p.allocation, p.value, l.process, p.bytes FROM "
                         "parameter p JOIN launch l ON l.id = p.launch WHERE p.bytes >= 8 AND "
                         "p.launch BETWEEN ? AND ?",
                         "ii", (int64_t)first, (int64_t)last);
  while (view_next(&r)) {
    uint32_t launch = (uint32_t)view_column(&r, 0), process = (uint32_t)view_column(&r, 3);
    const uint8_t *value = sqlite3_column_blob(r.statement, 2);
    int n = sqlite3_column_bytes(r.statement, 2);
    if (view_column(&r, 1)) vec_push(out, ((Use){launch, (uint32_t)view_column(&r, 1), 0}));
    else
      for (int i = 0; value && i + 8 <= n; i += 8) {
        uint64_t pointer;
        memcpy(&pointer, value + i, 8);
        const ViewAllocation *x = view_allocation_at(d, process, pointer, launch);
        if (x) vec_push(out, ((Use){launch, x->id, 0}));
      }
  }
}

// Reads the uses of launches from the recording if the file lacks them: the run still goes on, or
// an older version recorded it. Stops after LOOK_MS: all launches would take too long.
static void look_at_launches(ViewDesk *d, uint64_t first, uint64_t last, UseList *out) {
  enum { LOOK_MS = 300 };
  Error err = {{0}};
  TraceUses *uses = NULL;
  uint64_t end = clock_ns() + LOOK_MS * 1000000ull;
  ViewRows r = view_rows(d,
                         "SELECT launch FROM step WHERE kind = 'launch' AND launch BETWEEN ? AND ? "
                         "AND recorded > 0",
                         "ii", (int64_t)first, (int64_t)last);
  while (d->trace && view_next(&r) && clock_ns() < end) {
    if (!uses && !(uses = trace_uses_new(d->trace, &err))) break;
    out->launch = (uint32_t)view_column(&r, 0);
    if (!trace_uses_of(uses, out->launch, add_use, out, &err)) break;
  }
  view_rows_end(&r);
  trace_uses_free(uses);
}

static void read_uses(ViewDesk *d, uint64_t first, uint64_t last, UseList *out) {
  ViewRows r = view_rows(
      d, "SELECT launch, allocation, uses FROM launch_use WHERE launch BETWEEN ? AND ?", "ii",
      (int64_t)first, (int64_t)last);
  while (view_next(&r))
    vec_push(out, ((Use){(uint32_t)view_column(&r, 0), (uint32_t)view_column(&r, 1),
                         (uint32_t)view_column(&r, 2) & 3}));
  if (!out->len) look_at_launches(d, first, last, out);
  read_given(d, first, last, out);
  if (out->len) qsort(out->data, out->len, sizeof *out->data, by_launch);
}

static void launch_uses(ViewDesk *d, const UseList *uses, uint64_t launch, Str *out) {
  uint32_t low = 0, high = uses->len;
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    if (uses->data[middle].launch < launch) low = middle + 1;
    else high = middle;
  }
  str_addc(out, '[');
  bool first = true;
  for (uint32_t i = low; i < uses->len && uses->data[i].launch == launch; i++) {
    const Use *u = &uses->data[i];
    // accesses come before parameters
    if (i > low && u[-1].allocation == u->allocation && u[-1].launch == launch) continue;
    const ViewAllocation *x = view_allocation(d, u->allocation);
    if (x && x->own) continue;
    str_printf(out, "%s[%u,%u]", first ? "" : ",", u->allocation, u->uses);
    first = false;
  }
  str_addc(out, ']');
}

static uint64_t allocation_id(const ViewDesk *d, uint32_t process, uint64_t address,
                              uint64_t step) {
  const ViewAllocation *x = address ? view_allocation_at(d, process, address, step) : NULL;
  return x && !x->own ? x->id : 0;
}

// Copies of initial values into variables of the compiler or Warpgrind are not steps of the
// program.
#define STEPS_SHOWN \
  "step s WHERE NOT (coalesce(s.call, '') = 'initial value of a variable' AND s.destination IN " \
  "(SELECT base FROM allocation WHERE kind = 'variable' AND (name LIKE '$str%' OR name LIKE " \
  "'\\_\\_unnamed\\_%' ESCAPE '\\' OR name LIKE 'wg\\_info\\_of\\_%' ESCAPE '\\')))"

// [id, number, kind, launch, kernel, blocks, threads of a block, findings, recorded, stream, what
// ("copy to device"), bytes, [[allocation, uses], …], nanoseconds (0: not known), device, when it
// was asked for, when it began (0: not known), process]
void view_answer_flow(ViewDesk *d, ViewRequest *q, ViewAnswer *a) {
  uint64_t skip = view_number_or(q, "skip", 0, UINT32_MAX),
           most = view_number_or(q, "most", 5000, FLOW_MOST);
  if (q->error.text[0]) return;
  Str *s = &a->body;
  bool with_steps = view_one(d, "SELECT count(*) FROM (SELECT 1 FROM step LIMIT 1)", "") != 0;
  str_add(s, "{");
  json_number(s, "total",
              with_steps ? view_one(d, "SELECT count(*) FROM " STEPS_SHOWN, "")
                         : view_one(d, "SELECT count(*) FROM launch", ""));
  kernel_names(d, a);
  UseList uses = {0};
  if (with_steps)
    read_uses(d,
              view_one(d,
                       "SELECT min(launch) FROM (SELECT launch FROM " STEPS_SHOWN
                       " ORDER BY id LIMIT ? OFFSET ?) WHERE launch > 0",
                       "ii", (int64_t)most, (int64_t)skip),
              view_one(d,
                       "SELECT max(launch) FROM (SELECT launch FROM " STEPS_SHOWN
                       " ORDER BY id LIMIT ? OFFSET ?)",
                       "ii", (int64_t)most, (int64_t)skip),
              &uses);
#define LAUNCH_COLUMNS \
  "l.kernel, l.grid_x * l.grid_y * l.grid_z, l.block_x * l.block_y * l.block_z, 0"
  ViewRows r =
      with_steps
          ? view_rows(d,
                      "SELECT s.id, s.number, s.kind, l.id, " LAUNCH_COLUMNS
                      ", s.recorded, s.stream, CASE s.kind WHEN 'copy' THEN CASE WHEN s.call LIKE "
                      "'interrupt %' OR s.call LIKE 'library %' THEN s.call WHEN s.call LIKE "
                      "'initial value%' THEN 'initial value' ELSE coalesce('copy ' "
                      "|| replace(s.direction, '-', ' '), s.call) END WHEN 'inputs' THEN 'inputs "
                      "of launch ' || l.number ELSE s.kind END, s.width * max(s.height, 1) * "
                      "max(s.depth, 1), s.destination, s.source, s.process, l.number, "
                      "t.end_ns - t.begin_ns, s.device, s.time_ns, t.begin_ns FROM (SELECT * "
                      "FROM " STEPS_SHOWN " ORDER BY s.id LIMIT ? OFFSET ?) s LEFT JOIN launch l "
                      "ON l.id = s.launch LEFT JOIN launch_time t ON t.launch = l.id "
                      "ORDER BY s.id",
                      "ii", (int64_t)most, (int64_t)skip)
          : view_rows(d,
                      "SELECT l.id, l.number, 'launch', l.id, " LAUNCH_COLUMNS
                      ", 0, l.stream, '', 0, 0, 0, l.process, l.number, 0, l.device, l.time_ns, 0 "
                      "FROM launch l ORDER BY l.id "
                      "LIMIT ? OFFSET ?",
                      "ii", (int64_t)most, (int64_t)skip);
  json_open(s, "steps", '[');
  for (bool first = true; view_next(&r); first = false) {
    uint64_t id = view_column(&r, 0), launch = view_column(&r, 3);
    str_printf(s, "%s[%llu,%llu,", first ? "" : ",", (unsigned long long)id,
               (unsigned long long)(launch ? view_column(&r, 15) : view_column(&r, 1)));
    json_string(s, view_column_text(&r, 2) ? view_column_text(&r, 2) : "?");
    for (int i = 3; i < 10; i++)
      str_printf(s, ",%llu",
                 (unsigned long long)(i == 7 ? view_findings_of_launch(d, (uint32_t)launch)
                                             : view_column(&r, i)));
    str_addc(s, ',');
    json_string(s, view_column_text(&r, 10) ? view_column_text(&r, 10) : "");
    str_printf(s, ",%llu,", (unsigned long long)view_column(&r, 11));
    if (launch) launch_uses(d, &uses, launch, s);
    else {
      uint64_t to = allocation_id(d, (uint32_t)view_column(&r, 14), view_column(&r, 12), id),
               from = allocation_id(d, (uint32_t)view_column(&r, 14), view_column(&r, 13), id);
      if (view_column(&r, 12) == view_column(&r, 13)) from = 0;  // an initial value
      str_addc(s, '[');
      if (from) str_printf(s, "[%llu,1]", (unsigned long long)from);
      if (to) str_printf(s, "%s[%llu,2]", from ? "," : "", (unsigned long long)to);
      str_addc(s, ']');
    }
    for (int i = 16; i < 20; i++)  // nanoseconds, device, when it was asked for, when it began
      str_printf(s, ",%llu", (unsigned long long)view_column(&r, i));
    str_printf(s, ",%llu]", (unsigned long long)view_column(&r, 14));
  }
  str_add(s, "]}");
  vec_free(&uses);
  view_rows_ok(&r, a);
}

static void parameters_json(ViewDesk *d, uint64_t launch, const char *readable, Str *out) {
  json_open(out, "parameters", '[');
  ViewRows r = view_rows(d,
                         "SELECT p.number, p.name, p.bytes, hex(substr(p.value, 1, 1024)), "
                         "p.allocation FROM parameter p WHERE p.launch = ? ORDER BY p.number LIMIT "
                         "256",
                         "i", (int64_t)launch);
  while (view_next(&r)) {
    char type[128];
    json_open(out, NULL, '{');
    json_number(out, "number", view_column(&r, 0));
    json_text(out, "name", view_column_text(&r, 1));
    json_number(out, "bytes", view_column(&r, 2));
    json_text(out, "value", view_column_text(&r, 3));
    json_number(out, "allocation", view_column(&r, 4));
    if (view_column(&r, 0) < 1000 &&
        view_parameter_type(readable, (unsigned)view_column(&r, 0), type, sizeof type))
      json_text(out, "points_to", type);
    ViewRows t = view_rows(
        d,
        "SELECT t.name, t.type FROM parameter_type t JOIN launch l ON l.kernel = "
        "t.kernel WHERE l.id = ? AND t.number = ? LIMIT 1",
        "ii", (int64_t)launch, (int64_t)view_column(&r, 0));
    if (view_next(&t)) {
      json_text(out, "type", view_column_text(&t, 0));
      json_number(out, "type_id", view_column(&t, 1));
    }
    view_rows_end(&t);
    str_add(out, "}");
  }
  str_add(out, "]");
}

void view_answer_launch(ViewDesk *d, ViewRequest *q, ViewAnswer *a) {
  uint64_t id = view_number(q, "id", UINT32_MAX);
  if (q->error.text[0]) return;
  ViewRows r = view_rows(
      d,
      "SELECT l.stack, l.time_ns, l.stream, l.shared, coalesce(k.readable, k.name) FROM launch l "
      "LEFT JOIN kernel k ON k.id = l.kernel WHERE l.id = ?",
      "i", (int64_t)id);
  if (!view_next(&r)) {
    if (view_rows_ok(&r, a)) view_fail(a, 404, "there is no such launch");
    return;
  }
  Str *s = &a->body;
  str_add(s, "{");
  json_key(s, "launch");
  view_launch_json(d, (uint32_t)id, s);
  json_number(s, "time_ns", view_column(&r, 1));
  json_address(s, "stream", view_column(&r, 2));
  json_number(s, "shared", view_column(&r, 3));
  // older files have none
  ViewRows times = view_rows(d, "SELECT begin_ns, end_ns FROM launch_time WHERE launch = ?", "i",
                             (int64_t)id);
  if (view_next(&times)) {
    json_number(s, "begin_ns", view_column(&times, 0));
    json_number(s, "end_ns", view_column(&times, 1));
  }
  view_rows_end(&times);
  parameters_json(d, id, view_column_text(&r, 4), s);
  json_key(s, "stack");
  view_stack_json(d, view_column(&r, 0), s);
  str_add(s, "}");
  view_rows_end(&r);
}

void view_answer_step(ViewDesk *d, ViewRequest *q, ViewAnswer *a) {
  // columns from 3 on
  static const char *const numbers[] = {
      "number",   "stream",  "device",     "recorded",  "width", "height",     "depth",
      "to_pitch", "to_rows", "from_pitch", "from_rows", "value", "value_bytes"};
  uint64_t id = view_number(q, "id", UINT32_MAX);
  if (q->error.text[0]) return;
  ViewRows r = view_rows(
      d,
      "SELECT " STEP_KIND
      ", call, direction, number, stream, device, recorded, width, height, depth, "
      "to_pitch, to_rows, from_pitch, from_rows, value, value_bytes, "
      "destination, source, process, stack FROM step WHERE id = ?",
      "i", (int64_t)id);
  if (!view_next(&r)) {
    if (view_rows_ok(&r, a)) view_fail(a, 404, "there is no such step");
    return;
  }
  Str *s = &a->body;
  str_add(s, "{");
  json_number(s, "id", id);
  json_text(s, "kind", view_column_text(&r, 0));
  json_text(s, "call", view_column_text(&r, 1));
  json_text(s, "direction", view_column_text(&r, 2));
  for (int i = 0; i < (int)ARRAY_LEN(numbers); i++)
    json_number(s, numbers[i], view_column(&r, 3 + i));
  uint32_t process = (uint32_t)view_column(&r, 18);
  json_address(s, "to", view_column(&r, 16));
  json_address(s, "from", view_column(&r, 17));
  json_number(s, "to_buffer", allocation_id(d, process, view_column(&r, 16), id));
  json_number(s, "from_buffer", allocation_id(d, process, view_column(&r, 17), id));
  json_key(s, "stack");
  view_stack_json(d, view_column(&r, 19), s);
  str_add(s, "}");
  view_rows_end(&r);
}
