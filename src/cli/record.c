// --record: from the rings of the channel to the run file.
#include "cli/record.h"

#include "weave/weave.h"
#include "trace/trace.h"

#include <ctype.h>
#include <limits.h>
#include <malloc.h>

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

bool cli_record_check(Options *o, Error *err) {
  unsigned tools = 0;
  tools_parse(options_text(o, OPT_TOOL), &tools, err);
  bool as_tool = tools & TOOL_BIT(RECORD), inputs = options_is(o, OPT_RECORD, "inputs");
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
  if (options_flag(o, OPT_FP_RERUN))
    return error_set(err, "--record and --fp-rerun do not go together: the program runs twice.");
  if (inputs && as_tool)
    return error_set(err,
                     "--record=inputs and --tool=%s do not go together: either all operations are "
                     "recorded or what launches read at their start.",
                     tool_name(TOOL_RECORD));
  if (inputs && (options_given(o, OPT_THREADS) || options_given(o, OPT_BUFFER)))
    return error_set(err, "--%s does not go with --record=inputs.",
                     options_given(o, OPT_THREADS) ? "threads" : "buffer");
  if (!as_tool && !inputs) {
    Str list = {0};
    if (tools) str_printf(&list, "%s,", options_text(o, OPT_TOOL));
    str_add(&list, tool_name(TOOL_RECORD));
    o->text[OPT_TOOL] = list.data;  // lives as long as the options
  }
  if (!options_given(o, OPT_RECORD)) o->text[OPT_RECORD] = "all";
  return true;
}

// Small enough on a GPU to stay in the last-level cache of a large CPU: what the GPU writes is read
// and cleared there without reaching memory.
static uint64_t rings_mb(const Options *o) {
  if (options_is(o, OPT_RECORD, "inputs")) return 0;
  if (options_given(o, OPT_RECORD_BUFFER)) return options_number(o, OPT_RECORD_BUFFER);
  return options_is(o, OPT_DEVICE, "gpu") ? RINGS_GPU_MB : RINGS_CPU_MB;
}

uint64_t cli_record_ring_bytes(const Options *o) {
  if (!options_given(o, OPT_RECORD)) return 0;
  return MAX(MIN(rings_mb(o), (uint64_t)16384) << 20, (uint64_t)RING_LEAST);
}

// --- on threads of the reader ---

static size_t take(void *user, uint32_t process, uint32_t ring, const uint8_t *data, size_t n,
                   bool ended) {
  TraceWriter *w = user;
  return trace_stopped(w) ? SIZE_MAX : trace_take(w, process, ring, data, n, ended);
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

bool cli_record_start(const Options *o, ChannelReader *reader, Run *r, Error *err) {
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

void cli_record_look(Run *r) {
  const char *why = r->trace ? trace_stopped(r->trace) : NULL;
  if (!why || r->trace_stop_said) return;
  r->trace_stop_said = true;
  r->channel_damaged |= trace_is_damaged(r->trace);
  run_add_note(
      r, NULL, SEVERITY_WARNING,
      "recording stopped: %s. The program goes on; the run file holds what was recorded until then",
      why);
}

void cli_record_end(Run *r) {
  if (!r->trace) return;
  cli_record_look(r);
  trace_writer_free(r->trace);
  r->trace = NULL;
}

// Names of --buffer that an allocation had.
enum { NAMES_MOST = 64 };
static bool met[NAMES_MOST];

bool cli_record_is_chosen(const Options *o, const char *name) {
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

void cli_record_tell(const Run *r, const Options *o) {
  unsigned i = 0;
  for (const char *p = options_text(o, OPT_BUFFER); p && *p && i < NAMES_MOST;
       p += strcspn(p, ","), p += *p == ',', i++) {
    size_t n = strcspn(p, ",");
    if (!met[i] && n && strspn(p, "0123456789") < n && !is_variable(r, p, n))
      log_error("--buffer: no buffer called %.*s was allocated, and nothing of it was recorded",
                (int)n, p);
  }
}
