// --profile-trace: launches, copies and waits as a trace that Perfetto and Chrome show. Times are
// microseconds since the first call; on the virtual device, which has none, the order.
#include "base/json.h"
#include "tools/profile/report_ranges.h"
#include "tools/profile/report_trace.h"

static const char *name_of(const ProfileModel *m, const RunMeasure *x) {
  return x->kernel ? run_readable_name(m->run, x->kernel) : x->text ? x->text : "call";
}

typedef struct Event {
  const char *name, *category;
  double at, length;  // microseconds
  uint64_t row;       // a thread of the host, or a stream
  uint64_t first;     // nanoseconds: where the trace begins
} Event;
enum { FIRST_STREAM = 100000000 };  // rows of streams; threads have smaller numbers

static void add_since(Str *s, const char *key, uint64_t ns, uint64_t first) {
  if (!ns || ns < first) return;
  json_key(s, key);
  str_printf(s, "%.3f", (double)(ns - first) / 1e3);
}

static void add_event(Str *s, const Event *e, const RunMeasure *x) {
  str_add(s, s->len > 20 ? ",\n{" : "\n{");
  json_text(s, "name", e->name);
  json_text(s, "cat", e->category);
  json_text(s, "ph", "X");
  json_key(s, "ts");
  str_printf(s, "%.3f", e->at);
  json_key(s, "dur");
  str_printf(s, "%.3f", MAX(e->length, 0.001));
  json_number(s, "pid", x->process);
  json_number(s, "tid", e->row);
  json_key(s, "args");
  str_addc(s, '{');
  if (!strcmp(x->what, MEASURE_CALL)) {
    json_number(s, "bytes", x->v[CALL_BYTES]);
    json_number(s, "stream", x->v[CALL_STREAM]);
    add_since(s, "queued_us", x->v[CALL_QUEUED], e->first);
    add_since(s, "submitted_us", x->v[CALL_SUBMITTED], e->first);
  }
  if (x->file) {
    json_text(s, "file", x->file);
    json_number(s, "line", x->line);
  }
  str_add(s, "}}");
}

// Ranges of the whole process have a row of their own, 0: they may overlap those of threads.
static void add_ranges(const ProfileModel *m, uint64_t first, Str *s) {
  RangeModel r;
  ranges_build(m, &r);
  for (uint32_t i = 0; i < r.bars.len; i++) {
    const RangeBar *b = &r.bars.data[i];
    const uint64_t *v = b->m->v;
    Event e = {b->m->text,           "nvtx", b->first, (double)MAX(b->end, b->first) - b->first,
               v[RANGE_HOST_THREAD], first};
    if (m->has_times) {
      e.at = ((double)v[RANGE_BEGIN] - (double)first) / 1e3;
      e.length = (double)(v[RANGE_END] - v[RANGE_BEGIN]) / 1e3;
    }
    add_event(s, &e, b->m);
  }
  ranges_free(&r);
}

// Names of the rows: without them a viewer shows their numbers.
typedef struct TraceRow {
  uint32_t process;
  uint64_t number, stream;
} TraceRow;
typedef VEC(TraceRow) TraceRows;

static void add_row(TraceRows *rows, TraceRow row) {
  for (uint32_t i = 0; i < rows->len; i++)
    if (rows->data[i].process == row.process && rows->data[i].number == row.number) return;
  vec_push(rows, row);
}

static void name_rows(const TraceRows *rows, Str *s) {
  for (uint32_t i = 0; i < rows->len; i++) {
    const TraceRow *r = &rows->data[i];
    str_add(s, s->len > 20 ? ",\n{" : "\n{");
    json_text(s, "name", "thread_name");
    json_text(s, "cat", "meta");
    json_text(s, "ph", "M");
    json_number(s, "pid", r->process);
    json_number(s, "tid", r->number);
    str_add(s, ",\"args\":{\"name\":\"");
    if (!r->number) str_add(s, "ranges of the process");
    else if (r->number < FIRST_STREAM)
      str_printf(s, "host thread %llu", (unsigned long long)r->number);
    else if (r->stream <= 2) str_add(s, "device: default stream");
    else str_printf(s, "device: stream 0x%llx", (unsigned long long)r->stream);
    str_add(s, "\"}}");
  }
}

static uint64_t row_of(uint64_t stream) { return FIRST_STREAM + stream % FIRST_STREAM; }

bool profile_trace_write(const ProfileModel *m, const char *path, Error *err) {
  Str s = {0};
  uint64_t first = UINT64_MAX;
  TraceRows rows = {0};
  for (uint32_t i = 0; i < m->calls.len; i++) first = MIN(first, m->calls.data[i]->v[CALL_BEGIN]);
  str_add(&s, "{\"traceEvents\":[");
  add_ranges(m, first, &s);
  for (uint32_t i = 0; i < m->calls.len; i++) {
    const RunMeasure *x = m->calls.data[i];
    const uint64_t *v = x->v;
    bool timed = m->has_times;
    Event host = {name_of(m, x),
                  "host",
                  timed ? (double)(v[CALL_BEGIN] - first) / 1e3 : i,
                  timed ? (double)(v[CALL_END] - v[CALL_BEGIN]) / 1e3 : 1,
                  v[CALL_HOST_THREAD],
                  first};
    if (v[CALL_KIND] != CALL_NODE || !v[CALL_STARTED]) {  // no call launches a single node
      add_event(&s, &host, x);
      add_row(&rows, (TraceRow){x->process, v[CALL_HOST_THREAD], 0});
    }
    if (!v[CALL_STARTED] || v[CALL_STARTED] < first) continue;
    Event device = {host.name,
                    "device",
                    (double)(v[CALL_STARTED] - first) / 1e3,
                    (double)(v[CALL_ENDED] - v[CALL_STARTED]) / 1e3,
                    row_of(v[CALL_STREAM]),
                    first};
    add_event(&s, &device, x);
    add_row(&rows, (TraceRow){x->process, device.row, v[CALL_STREAM]});
  }
  name_rows(&rows, &s);
  vec_free(&rows);
  str_printf(&s, "\n],\"otherData\":{\"times\":\"%s\"}}\n",
             m->times ? m->times : "order only: the virtual device has no times");
  bool ok = file_write(path, s.data, s.len, err);
  str_free(&s);
  return ok;
}
