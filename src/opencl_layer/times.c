// Enables profiling in every queue, and gives every command an event. Events are kept until their
// command is done; then the four times are read.
#include "opencl_layer/times.h"

#include "base/options.h"
#include "opencl_layer/overlap.h"

#include <pthread.h>
#include <unistd.h>

enum { QUEUED, SUBMITTED, STARTED, ENDED, MOMENTS };
static const cl_profiling_info moments[MOMENTS] = {
    CL_PROFILING_COMMAND_QUEUED, CL_PROFILING_COMMAND_SUBMIT, CL_PROFILING_COMMAND_START,
    CL_PROFILING_COMMAND_END};

typedef enum Kind { KERNEL, TRANSFER, OTHER } Kind;
static const char *const kind_names[] = {"kernel", "transfer", "other"};

typedef struct Command {
  cl_event event;  // NULL: its times were read, or are not known
  Kind kind;
  bool known;
  uint32_t queue;  // a number from 1 on
  cl_ulong at[MOMENTS];
  char what[64];
  OpenclCommand told;  // for the run file and for a trace
} Command;

static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static const char *path;
static pid_t opened_in;
static const cl_icd_dispatch *platform;
static VEC(Command) commands;
static VEC(cl_command_queue) queues;
static uint32_t first_pending;
static int64_t host_minus_device;  // of the clocks
static bool clocks_known;

static void read_option(void) {
  static Options o;
  Error err = {0};
  Str name = {0};
  opened_in = getpid();
  if (!options_from_environment(&o, &err) || !options_given(&o, OPT_OPENCL_TIMES)) return;
  if (options_expand_name(options_text(&o, OPT_OPENCL_TIMES), opened_in, &name, &err))
    path = name.data;
}

bool layer_times_on(void) {
  pthread_once(&once, read_option);
  return path != NULL;
}

cl_command_queue_properties layer_profiled_bits(cl_command_queue_properties asked) {
  return layer_times_on() ? asked | CL_QUEUE_PROFILING_ENABLE : asked;
}

const cl_queue_properties *layer_profiled_list(const cl_queue_properties *asked) {
  static _Thread_local cl_queue_properties list[34];
  size_t n = 0;
  bool has_bits = false;
  if (!layer_times_on()) return asked;
  for (; asked && asked[n] && n < 30; n += 2) {
    list[n] = asked[n];
    list[n + 1] = asked[n + 1];
    if (asked[n] != CL_QUEUE_PROPERTIES) continue;
    list[n + 1] |= CL_QUEUE_PROFILING_ENABLE;
    has_bits = true;
  }
  if (asked && asked[n]) return asked;  // more than there are: the platform will say so
  if (!has_bits) {
    list[n++] = CL_QUEUE_PROPERTIES;
    list[n++] = CL_QUEUE_PROFILING_ENABLE;
  }
  list[n] = 0;
  return list;
}

// --- reading times ---

// A command is queued while the call that enqueues it runs: that ties the device's clock to the
// host's, well enough for a picture.
static void tell_run(Command *c) {
  OpenclCommand *o = &c->told;
  if (!clocks_known) host_minus_device = (int64_t)(o->begin_ns - c->at[QUEUED]);
  clocks_known = true;
  o->queued_ns = c->at[QUEUED] + (uint64_t)host_minus_device;
  o->submitted_ns = c->at[SUBMITTED] + (uint64_t)host_minus_device;
  o->started_ns = c->at[STARTED] + (uint64_t)host_minus_device;
  o->ended_ns = c->at[ENDED] + (uint64_t)host_minus_device;
  o->queue = c->queue;
  o->kernel = c->kind == KERNEL ? c->what : NULL;
  layer_run_tell(o);
}

static void read_times(Command *c) {
  cl_int status = CL_QUEUED;
  platform->clGetEventInfo(c->event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status,
                           NULL);
  if (status > CL_COMPLETE) return;
  c->known = status == CL_COMPLETE;
  for (int i = 0; c->known && i < MOMENTS; i++)
    c->known = platform->clGetEventProfilingInfo(c->event, moments[i], sizeof c->at[i], &c->at[i],
                                                 NULL) == CL_SUCCESS;
  platform->clReleaseEvent(c->event);
  c->event = NULL;
  if (c->known) tell_run(c);
}

// Called with the lock.
static void read_all(void) {
  for (uint32_t i = first_pending; i < commands.len; i++)
    if (commands.data[i].event) read_times(&commands.data[i]);
  while (first_pending < commands.len && !commands.data[first_pending].event) first_pending++;
}

static uint32_t number_of(cl_command_queue q) {
  for (uint32_t i = 0; i < queues.len; i++)
    if (queues.data[i] == q) return i + 1;
  vec_push(&queues, q);
  return queues.len;
}

static bool contains(const char *name, const char *part) { return strstr(name, part) != NULL; }

static Kind kind_of(const char *name) {
  if (contains(name, "NDRange") || contains(name, "Task") || contains(name, "NativeKernel"))
    return KERNEL;
  return contains(name, "Marker") || contains(name, "Barrier") || contains(name, "Free") ? OTHER
                                                                                         : TRANSFER;
}

static void print_times(void);

void layer_times_add(const cl_icd_dispatch *next, const LayerCommand *c) {
  enum { MOST_PENDING = 256 };
  Command command = {.event = c->event, .kind = kind_of(c->name)};
  if (!c->event) return;
  if (!c->own_event) next->clRetainEvent(c->event);
  const char *what = c->name + strlen("clEnqueue");
  snprintf(command.what, sizeof command.what, "%s", what);
  if (c->kernel)
    next->clGetKernelInfo(c->kernel, CL_KERNEL_FUNCTION_NAME, sizeof command.what, command.what,
                          NULL);
  layer_run_begin(c, &command.told);
  pthread_mutex_lock(&lock);
  if (!platform) atexit(print_times);  // before the platform's own handlers, which came earlier
  platform = next;
  command.queue = number_of(c->queue);
  vec_push(&commands, command);
  if (commands.len - first_pending > MOST_PENDING) read_all();
  pthread_mutex_unlock(&lock);
}

void layer_times_finish(const cl_icd_dispatch *next, cl_command_queue queue) {
  if (!layer_times_on() || !platform) return;
  next->clFinish(queue);
  pthread_mutex_lock(&lock);
  read_all();
  for (uint32_t i = 0; i < queues.len; i++)
    if (queues.data[i] == queue) queues.data[i] = NULL;  // another may get its address
  pthread_mutex_unlock(&lock);
}

// --- the report ---

static double us(cl_ulong ns) { return (double)ns / 1000; }

static void print_commands(FILE *out, cl_ulong zero) {
  fprintf(out, "microseconds since the first command was queued\n%12s %12s %12s %12s %6s %-8s %s\n",
          "queued", "submitted", "started", "ended", "queue", "kind", "what");
  for (uint32_t i = 0; i < commands.len; i++) {
    const Command *c = &commands.data[i];
    if (!c->known) continue;
    for (int m = 0; m < MOMENTS; m++) fprintf(out, "%12.1f ", us(c->at[m] - zero));
    fprintf(out, "%6u %-8s %s\n", c->queue, kind_names[c->kind], c->what);
  }
}

static void print_sums(FILE *out) {
  Spans of[2] = {{0}, {0}};
  cl_ulong wait = 0, longest = 0;
  uint32_t n = 0, count[3] = {0}, waits_longest = 0;
  for (uint32_t i = 0; i < commands.len; i++) {
    const Command *c = &commands.data[i];
    if (!c->known) continue;
    cl_ulong waited = c->at[STARTED] - c->at[QUEUED];
    if (c->kind != OTHER) vec_push(&of[c->kind], ((Span){c->at[STARTED], c->at[ENDED]}));
    if (waited > longest) waits_longest = i;
    longest = MAX(longest, waited);
    wait += waited;
    count[c->kind]++;
    n++;
  }
  uint64_t kernels = spans_join(&of[KERNEL]), transfers = spans_join(&of[TRANSFER]),
           both = spans_common(&of[KERNEL], &of[TRANSFER]), busy = kernels + transfers - both;
  fprintf(out, "commands: %u (kernels %u, transfers %u, others %u), of unknown times: %u\n", n,
          count[KERNEL], count[TRANSFER], count[OTHER], commands.len - n);
  fprintf(out, "kernels: %.1f us, transfers: %.1f us; transfers are %.0f %% of the device's time\n",
          us(kernels), us(transfers), busy ? 100.0 * (double)transfers / (double)busy : 0.0);
  uint64_t shorter = MIN(kernels, transfers);
  fprintf(out, "kernels and transfers at the same time: %.1f us, %.0f %% of what is possible\n",
          us(both), shorter ? 100.0 * (double)both / (double)shorter : 0.0);
  fprintf(out, "from queued to started: %.1f us on average, at most %.1f us (%s)\n",
          n ? us(wait) / n : 0.0, us(longest), n ? commands.data[waits_longest].what : "none");
  vec_free(&of[KERNEL]);
  vec_free(&of[TRANSFER]);
}

static bool is_trace(const char *name) {
  size_t n = strlen(name);
  return n > 5 && !strcmp(name + n - 5, ".json");
}

static void print_trace(FILE *out) {
  uint64_t zero = UINT64_MAX;
  for (uint32_t i = 0; i < commands.len; i++)
    if (commands.data[i].known) zero = MIN(zero, commands.data[i].told.begin_ns);
  layer_trace_begin(out);
  for (uint32_t i = 0; i < commands.len; i++) {
    Command *c = &commands.data[i];
    c->told.kernel = c->kind == KERNEL ? c->what : NULL;  // the list may have moved
    if (c->known) layer_trace_add(out, &c->told, zero);
  }
  layer_trace_end(out);
}

static void print_times(void) {
  if (!path || opened_in != getpid()) return;
  FILE *out = fopen(path, "w");
  if (!out) {
    log_error("%s cannot be written", path);
    return;
  }
  pthread_mutex_lock(&lock);
  read_all();
  cl_ulong zero = UINT64_MAX;
  for (uint32_t i = 0; i < commands.len; i++)
    if (commands.data[i].known) zero = MIN(zero, commands.data[i].at[QUEUED]);
  if (is_trace(path)) print_trace(out);
  else {
    print_commands(out, zero);
    print_sums(out);
  }
  pthread_mutex_unlock(&lock);
  fclose(out);
}
