// One line for each call; at the end, how many failed, and what was not released.
#include "base/options.h"
#include "opencl_layer/host_memory.h"

#include <pthread.h>
#include <unistd.h>

static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static FILE *out;
static uint64_t start_ns, calls, failed;
static pid_t opened_in;  // a forked child does not end the file of its parent

__attribute__((constructor)) static void start(void) { start_ns = clock_ns(); }

static void open_file(void) {
  Options o = {0};
  Error err = {0};
  Str path = {0};
  opened_in = getpid();
  if (!options_from_environment(&o, &err) || !options_given(&o, OPT_OPENCL_CALLS)) return;
  if (options_expand_name(options_text(&o, OPT_OPENCL_CALLS), opened_in, &path, &err))
    out = fopen(path.data, "w");
  if (!out) log_error("%s cannot be written", options_text(&o, OPT_OPENCL_CALLS));
  str_free(&path);
}

// The value that the format names so, which is a pointer; NULL: there is none.
static void *pointer_named(const char *format, const char *name, va_list values) {
  size_t n = strlen(name);
  for (const char *p = format; *p;) {
    const char *end = strchr(p, '%');
    bool is_pointer = end && end[1] == 'p';
    void *pointer = NULL;
    if (!end) break;
    if (is_pointer) pointer = va_arg(values, void *);
    else (void)va_arg(values, unsigned long long);
    bool named = !strncmp(p, name, n) && p[n] == '=';
    if (is_pointer && (named || !n)) return pointer;
    p = end + strcspn(end, " ");
    while (*p == ' ') p++;
  }
  return NULL;
}

static bool starts(const char *text, const char *with) {
  return strncmp(text, with, strlen(with)) == 0;
}

// Objects that the call has made, retained or released.
static void count_objects(const LayerCall *c, const char *format, va_list values) {
  va_list again;
  va_copy(again, values);
  bool is_object = c->type && starts(c->type, "cl_");
  if (c->error != CL_SUCCESS) return;
  if (is_object) layer_object_made(c->made, c, c->type);
  if (starts(c->name, "clRetain") && !strstr(c->name, "Device"))
    layer_object_retained(pointer_named(format, "", values));
  else if (starts(c->name, "clRelease") && !strstr(c->name, "Device"))
    layer_object_released(pointer_named(format, "", values));
  else if (starts(c->name, "clEnqueue")) {
    cl_event *event = pointer_named(format, "event", again);
    if (event) layer_object_made(*event, c, "cl_event");
  }
  va_end(again);
}

// A line is put together by hand: printf takes two microseconds for one.
typedef struct Line {
  char text[1024];
  size_t len;
} Line;

static void add_part(Line *l, const char *text, size_t n) {
  n = MIN(n, sizeof l->text - l->len);
  memcpy(l->text + l->len, text, n);
  l->len += n;
}

static void add_text(Line *l, const char *text) { add_part(l, text, strlen(text)); }

static void add_number(Line *l, uint64_t value, unsigned base, unsigned digits) {
  char text[24];
  size_t at = sizeof text;
  text[--at] = 0;
  for (; value || digits || at == sizeof text - 1; value /= base, digits -= digits > 0)
    text[--at] = "0123456789abcdef"[value % base];
  add_text(l, text + at);
}

static void add_pointer(Line *l, const void *p) {
  add_text(l, p ? "0x" : "NULL");
  if (p) add_number(l, (uintptr_t)p, 16, 0);
}

// %p, %llu, %lld and %llx: what calls.def has.
static void add_values(Line *l, const char *format, va_list values) {
  for (const char *p = format; *p; p++) {
    const char *value_at = strchr(p, '%');
    add_part(l, p, value_at ? (size_t)(value_at - p) : strlen(p));
    if (!value_at) break;
    p = value_at + 1;
    if (*p == 'p') {
      add_pointer(l, va_arg(values, void *));
      continue;
    }
    p += 2;
    long long value = va_arg(values, long long);
    bool negative = *p == 'd' && value < 0;
    if (negative) add_text(l, "-");
    add_number(l, negative ? -(uint64_t)value : (uint64_t)value, *p == 'x' ? 16 : 10, 0);
  }
}

static void add_result(Line *l, const LayerCall *c) {
  const char *error = c->error ? layer_error_text(c->error) : NULL;
  add_text(l, " = ");
  if (c->error == CL_SUCCESS && c->type) add_pointer(l, c->made);
  else if (c->error == CL_SUCCESS) add_text(l, "CL_SUCCESS");
  else if (error) add_text(l, error);
  else {
    add_text(l, "-");
    add_number(l, -(uint64_t)c->error, 10, 0);
  }
}

static void add_times(Line *l, uint64_t ns, unsigned unit, unsigned digits) {
  add_number(l, ns / unit, 10, 0);
  add_text(l, ".");
  for (unsigned i = 0; i < digits; i++) unit /= 10;
  add_number(l, ns / unit % (digits == 6 ? 1000000 : 10), 10, digits);
}

bool layer_records(void) {
  pthread_once(&once, open_file);
  return out != NULL;
}

void layer_note_call(const char *what, const void *memory, size_t size, const char *function,
                     const void *caller, const char *text) {
  pthread_mutex_lock(&lock);
  fprintf(out, "%s 0x%zx, %zu bytes, of %s", what, (size_t)memory, size, function);
  layer_print_place(out, ", called at", caller);
  fprintf(out, ", %s\n", text);
  pthread_mutex_unlock(&lock);
}

void layer_record(const LayerCall *c, const char *format, ...) {
  va_list values, again;
  Line l;
  l.len = 0;
  if (!layer_records()) return;
  va_start(values, format);
  va_copy(again, values);
  count_objects(c, format, again);
  va_end(again);
  add_times(&l, c->begin_ns - start_ns, 1000000000, 6);
  add_text(&l, " ");
  add_text(&l, c->name);
  add_text(&l, "(");
  add_values(&l, format, values);
  add_text(&l, ")");
  add_result(&l, c);
  add_text(&l, ", ");
  add_times(&l, c->end_ns - c->begin_ns, 1000, 1);
  add_text(&l, " us\n");
  pthread_mutex_lock(&lock);
  calls++;
  failed += c->error != CL_SUCCESS;
  fwrite(l.text, 1, l.len, out);
  pthread_mutex_unlock(&lock);
  va_end(values);
}

__attribute__((destructor)) static void end(void) {
  if (!out || opened_in != getpid()) return;
  fprintf(out, "calls: %llu, failed: %llu\n", (unsigned long long)calls,
          (unsigned long long)failed);
  if (host_memory_found())
    fprintf(out, "host memory changed or unmapped before a write of it was complete: %llu times\n",
            (unsigned long long)host_memory_found());
  layer_objects_left(out);
  fclose(out);
  out = NULL;
}
