// record inside the command: checks its options, and moves the kernels' records from the rings of
// the channel into the run file.
#include "tools/report.h"

#include <ctype.h>
#include <limits.h>
#include <malloc.h>

#include "tools/options.h"
#include "trace/trace.h"

enum { RINGS_GPU_MB = 256, RINGS_CPU_MB = 32, RING_LEAST = 32 << 10 };

static bool check_threads(const char *list, Error *err) {
  unsigned n = 0;
  for (const char *p = list; p; n++) {
    char *end;
    if (!isdigit((unsigned char)*p)) break;
    uint64_t first = strtoull(p, &end, 10), last = first;
    if (*end == '-' && isdigit((unsigned char)end[1])) last = strtoull(end + 1, &end, 10);
    if ((*end && *end != ',') || last < first) break;
    p = *end ? end + 1 : NULL;
    if (!p)
      return n < WG_TRACE_RANGES ||
             error_set(err, "--threads=%s: more than %d ranges.", list, WG_TRACE_RANGES);
  }
  return error_set(err, "--threads=%s: expected numbers or ranges as in 0-31,4012.", list);
}

static const char NAME[] = "record";  // among the names of --tool

static bool is_named(const char *list) {
  for (const char *p = list; *p; p += strcspn(p, ","), p += *p == ',')
    if (!strncmp(p, NAME, strlen(NAME)) && strcspn(p, ",") == strlen(NAME)) return true;
  return false;
}

static void add_tool(Options *o) {
  const char *tools = options_text(o, OPT_TOOL);
  Str list = {0};
  if (strcmp(tools, "none")) str_printf(&list, "%s,", tools);
  str_add(&list, NAME);
  o->text[OPT_TOOL] = list.data;  // lives as long as the options
}

static bool check_options(Options *o, Error *err) {
  bool as_tool = is_named(options_text(o, OPT_TOOL)), inputs = options_is(o, OPT_RECORD, "inputs");
  static const OptionId choices[] = {OPT_INPUTS_RATE,   OPT_THREADS,       OPT_BUFFER,
                                     OPT_RECORD_BUFFER, OPT_RECORD_MEMORY, OPT_RECORD_DISK};
  for (size_t i = 0; !as_tool && !options_given(o, OPT_RECORD) && i < ARRAY_LEN(choices); i++)
    if (options_given(o, choices[i]))
      return error_set(err, "--%s belongs to --record, which was not given.",
                       options_table[choices[i]].name);
  if (options_given(o, OPT_THREADS) && !check_threads(options_text(o, OPT_THREADS), err))
    return false;
  if (!options_given(o, OPT_RECORD) && !as_tool) return true;
  if (!options_given(o, OPT_OUTPUT))
    return error_set(err, "--record needs a file to record into: -o FILE.");
  if (tool_rerun(o))
    return error_set(err, "--record and --%s do not go together: the program runs twice.",
                     tool_rerun(o)->option);
  if (inputs && as_tool)
    return error_set(err,
                     "--record=inputs and --tool=%s do not go together: either all operations are "
                     "recorded or what launches read at their start.",
                     NAME);
  if (inputs && (options_given(o, OPT_THREADS) || options_given(o, OPT_BUFFER)))
    return error_set(err, "--%s does not go with --record=inputs.",
                     options_given(o, OPT_THREADS) ? "threads" : "buffer");
  if (!as_tool && !inputs) add_tool(o);
  if (!options_given(o, OPT_RECORD)) o->text[OPT_RECORD] = "all";
  return true;
}

// Small enough on a GPU to stay in the last-level cache of a large CPU: the CPU reads and clears
// the GPU's writes there without a memory access.
static uint64_t rings_mb(const Options *o) {
  if (options_is(o, OPT_RECORD, "inputs")) return 0;
  if (options_given(o, OPT_RECORD_BUFFER)) return options_number(o, OPT_RECORD_BUFFER);
  return options_is(o, OPT_DEVICE, "gpu") ? RINGS_GPU_MB : RINGS_CPU_MB;
}

static uint64_t ring_bytes(const Options *o) {
  if (!options_given(o, OPT_RECORD)) return 0;
  return MAX(MIN(rings_mb(o), (uint64_t)16384) << 20, (uint64_t)RING_LEAST);
}

// --- on threads of the reader ---

static size_t take(void *user, uint32_t process, uint32_t ring, const uint8_t *data, size_t n,
                   bool ended) {
  return trace_take(user, process, ring, data, n, ended);
}

static void contents_end(void *user, uint32_t process, uint32_t step) {
  trace_contents_ended(user, process, step);
}

static void contents(void *user, uint32_t process, uint32_t step, uint64_t address,
                     const void *bytes, size_t n) {
  trace_contents_set(user, process, step, address, bytes, n);
}

// --- on the thread that receives, or when it has ended ---

// Keeps freed memory in the process: dozens of threads that map and unmap memory wait for each
// other, and kernels wait for the threads that empty their rings.
static void keep_memory(void) {
  mallopt(M_MMAP_THRESHOLD, 32 << 20);
  mallopt(M_TRIM_THRESHOLD, INT_MAX);
  mallopt(M_TOP_PAD, 64 << 20);
}

static bool start(const Options *o, ChannelReader *reader, Run *r, Error *err) {
  if (!options_given(o, OPT_RECORD)) return true;
  keep_memory();
  TraceLimits limits = {.memory = options_number(o, OPT_RECORD_MEMORY) << 20,
                        .disk = options_number(o, OPT_RECORD_DISK) << 20,
                        .ahead = options_is(o, OPT_DEVICE, "gpu") &&
                                 !options_is(o, OPT_RECORD, "inputs")};
  r->records_inputs = options_is(o, OPT_RECORD, "inputs");
  r->trace = trace_writer_new(&limits, err);
  return r->trace &&
         channel_record(reader, &(ChannelTraceSink){take, contents, contents_end, r->trace}, err);
}

static void look(Run *r) {
  const char *why = r->trace ? trace_stopped(r->trace) : NULL;
  if (!why || r->trace_stop_said) return;
  r->trace_stop_said = true;
  r->channel_damaged |= trace_is_damaged(r->trace);
  run_add_note(
      r, NULL, SEVERITY_WARNING,
      "recording stopped: %s. The program goes on; the run file holds what was recorded until then",
      why);
}

static void end(Run *r) {
  if (!r->trace) return;
  look(r);
  trace_writer_free(r->trace);
  r->trace = NULL;
}

// Names of --buffer that an allocation had.
enum { NAMES_MOST = 64 };
static bool met[NAMES_MOST];

static bool chooses_buffer(const Options *o, const char *name) {
  unsigned i = 0;
  for (const char *p = options_text(o, OPT_BUFFER); name && p && *p;
       p += strcspn(p, ","), p += *p == ',', i++) {
    size_t n = strcspn(p, ",");
    if (strlen(name) != n || strncmp(name, p, n) != 0) continue;
    if (i < NAMES_MOST) met[i] = true;
    return true;
  }
  return false;
}

// The process itself chooses variables of modules.
static bool is_variable(const Run *r, const char *name, size_t n) {
  return strmap_getn(&r->variables, name, n) != NULL;
}

static void finished(const Run *r, const Options *o) {
  unsigned i = 0;
  for (const char *p = options_text(o, OPT_BUFFER); p && *p && i < NAMES_MOST;
       p += strcspn(p, ","), p += *p == ',', i++) {
    size_t n = strcspn(p, ",");
    if (!met[i] && n && strspn(p, "0123456789") < n && !is_variable(r, p, n))
      log_error("--buffer: no buffer called %.*s was allocated, and nothing of it was recorded",
                (int)n, p);
  }
}

static bool replaces_checks(const Options *o) { return options_is(o, OPT_RECORD, "inputs"); }

const ToolReport tool_report_record = {.library_calls = true,
                                       .replaces_checks = replaces_checks,
                                       .check_options = check_options,
                                       .ring_bytes = ring_bytes,
                                       .start = start,
                                       .look = look,
                                       .chooses_buffer = chooses_buffer,
                                       .finished = finished,
                                       .end = end};
