// The user's options, and the start of the session in the process.
#include <regex.h>
#include <sys/types.h>

#include "base/dump_option.h"
#include "base/hash_option.h"
#include "base/options.h"
#include "base/runstats.h"
#include "session/internal.h"
#include "tools/tool.h"

pthread_mutex_t session_lock = PTHREAD_MUTEX_INITIALIZER;

static SessionOptions values;
static WeavePlan plan;
static const char *device_name = "cpu";
static regex_t wanted, unwanted;
static bool has_wanted, has_unwanted;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static _Atomic bool is_read;  // every launch asks a dozen times

static bool compile(const Options *o, OptionId id, regex_t *out) {
  const char *text = options_text(o, id);
  if (!text) return false;
  if (regcomp(out, text, REG_EXTENDED | REG_NOSUB) == 0) return true;
  log_error("--%s=%s is not a regular expression; it is not used", options_table[id].name, text);
  return false;
}

bool session_hears_ranges(void) {
  Options o = {0};
  Error err = {{0}};
  unsigned tools = 0;
  bool any = false;
  if (!options_from_environment(&o, &err) || !options_given(&o, OPT_TOOL) ||
      !tools_parse(options_text(&o, OPT_TOOL), &tools, &err))
    return false;
  for (unsigned t = 0; t < TOOL_COUNT_; t++)
    any |= (tools >> t & 1) && tool_table[t] && tool_table[t]->range_ended;
  return any;
}

static void configure_tools(const Options *o) {
  for (unsigned t = 0; t < TOOL_COUNT_; t++) {
    const Tool *tool = tool_table[t];
    ToolSetup s = {
        .options = o, .named = values.tools >> t & 1, .keeps_run = values.keeps_run, .plan = &plan};
    if (tool && tool->configure) tool->configure(&s);
    if (tool && s.named) s.wants |= tool->wants;
    if (s.named || s.runs) values.running |= 1u << t;
    if (s.named && !(tool && tool->only_counts)) values.has_findings = true;
    values.wants |= s.wants;
  }
}

// The command has checked every option already; this is for a library that was preloaded by hand.
static void read_environment(void) {
  Options o = {0};
  Error err = {{0}};
  if (!options_from_environment(&o, &err)) log_error("%s", err.text);
  // Without the command no finding would be reported: no tool runs unless an option names one.
  if (options_given(&o, OPT_TOOL) && !tools_parse(options_text(&o, OPT_TOOL), &values.tools, &err))
    log_error("%s", err.text);
  values.keeps_run = options_given(&o, OPT_OUTPUT);
  values.host_stacks = options_given(&o, OPT_HOST_STACKS) ? options_flag(&o, OPT_HOST_STACKS)
                                                          : values.tools || values.keeps_run ||
                                                                options_given(&o, OPT_DUMP_BUFFERS);
  if (values.host_stacks) where_keep_forward();
  values.launch_skip = options_number(&o, OPT_LAUNCH_SKIP);
  values.launch_count = options_given(&o, OPT_LAUNCH_COUNT) ? options_number(&o, OPT_LAUNCH_COUNT)
                                                            : UINT64_MAX;
  HashOption hash;
  if (!hash_option_parse(options_text(&o, OPT_HASH), &hash, &err)) log_error("%s", err.text);
  values.hash = (hash.on || options_given(&o, OPT_DUMP_BUFFERS)) && values.keeps_run;
  values.hash_every = hash.every;
  if (options_given(&o, OPT_DUMP_BUFFERS)) {
    values.dump = mem_alloc(sizeof *values.dump);
    if (!dump_option_parse(options_text(&o, OPT_DUMP_BUFFERS), values.dump, &err)) {
      log_error("%s", err.text);
      values.dump = NULL;
    }
  }
  values.closed = !options_is(&o, OPT_CLOSED, "skip");
  values.closed_repeats = options_is(&o, OPT_CLOSED, "check");
  values.closed_every = MAX(options_number(&o, OPT_CLOSED_EVERY), 1u);
  values.closed_library = options_given(&o, OPT_CLOSED_LIBRARY)
                              ? mem_strdup(options_text(&o, OPT_CLOSED_LIBRARY))
                              : NULL;
  values.launch_log = options_given(&o, OPT_LAUNCH_LOG)
                          ? mem_strdup(options_text(&o, OPT_LAUNCH_LOG))
                          : NULL;
  values.hang_ns = MIN(options_number(&o, OPT_HANG_TIMEOUT), 1000000000u) * 1000000000u;
  values.hang_stop = options_is(&o, OPT_HANG_ACTION, "stop");
  has_wanted = compile(&o, OPT_KERNEL, &wanted);
  has_unwanted = compile(&o, OPT_KERNEL_EXCLUDE, &unwanted);
  plan = (WeavePlan){.tools = values.tools, .wants_kernel = session_wants_kernel};
  // An annotation of the program may come here before the device is chosen.
  plan.spare_registers = !strcmp(device_name, "gpu") || options_is(&o, OPT_DEVICE, "gpu");
  plan.find_writes = values.hash || values.dump;
  weave_set_options(&plan, &o);
  configure_tools(&o);
}

static void read_once(void) {
  read_environment();
  values.wants_launches = values.tools || values.dump || values.keeps_run || values.launch_log;
  values.only_counts = !values.wants_launches && !values.running && !values.wants && !values.hash;
  atomic_store_explicit(&is_read, true, memory_order_release);
}

const SessionOptions *session_options(void) {
  if (!atomic_load_explicit(&is_read, memory_order_acquire)) pthread_once(&once, read_once);
  return &values;
}

bool session_wants_kernel(const char *name, void *user) {
  session_options();
  if (has_wanted && regexec(&wanted, name, 0, NULL, 0) != 0) return false;
  return !has_unwanted || regexec(&unwanted, name, 0, NULL, 0) != 0;
}

// Nothing here needs the options: the library may be loaded before libc is ready for much.
void session_attach(void) { channel_attach(); }

void session_start(const char *device) {
  device_name = device;
  channel_attach();
}

const char *session_device_name(void) { return device_name; }
unsigned session_tools(void) { return session_options()->tools; }
unsigned session_running(void) { return session_options()->running; }
bool session_has_findings(void) { return session_options()->has_findings; }
bool session_wants(unsigned what) { return (session_options()->wants & what) != 0; }
bool session_wants_launches(void) { return session_options()->wants_launches; }
bool session_only_counts_launches(void) { return session_options()->only_counts; }
bool session_wants_copies(void) {
  return session_wants(SESSION_WANTS_COPIES) || session_wants_memory() || session_wants_outputs();
}
bool session_wants_memory(void) { return session_wants(SESSION_WANTS_TABLE); }

const WeavePlan *session_plan(void) {
  session_options();
  return &plan;
}
