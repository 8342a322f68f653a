// Finds the Python lines that a kernel of XLA was made from. XLA names a kernel after an
// instruction of its optimised program (HLO), and the instruction says where it comes from. The
// command has XLA write these programs to a folder (WARPGRIND_XLA_DUMPS); they are there before the
// kernel is first launched. If several programs have an instruction of this name, the latest
// counts.
#define _GNU_SOURCE
#include "where/internal.h"

#include <ctype.h>
#include <dirent.h>
#include <sys/stat.h>

enum { MOST_FILES = 400, MOST_FRAMES = 16 };
static const size_t most_bytes = (size_t)64 << 20;

typedef struct Dump {
  char *path;
  struct timespec written;
} Dump;

static int by_time(const void *a, const void *b) {
  const struct timespec *x = &((const Dump *)a)->written, *y = &((const Dump *)b)->written;
  if (x->tv_sec != y->tv_sec) return x->tv_sec < y->tv_sec ? 1 : -1;
  return x->tv_nsec < y->tv_nsec ? 1 : x->tv_nsec > y->tv_nsec ? -1 : 0;
}

static uint32_t list_dumps(const char *folder, Dump *out) {
  uint32_t n = 0;
  struct stat st;
  DIR *d = opendir(folder);
  for (struct dirent *e; d && n < MOST_FILES && (e = readdir(d));) {
    if (!text_ends_with(e->d_name, "after_optimizations.txt")) continue;
    Str path = {0};
    str_printf(&path, "%s/%s", folder, e->d_name);
    if (stat(path.data, &st) == 0 && (size_t)st.st_size <= most_bytes)
      out[n++] = (Dump){path.data, st.st_mtim};
    else str_free(&path);
  }
  if (d) closedir(d);
  qsort(out, n, sizeof *out, by_time);
  return n;
}

// --- the instruction ---

// Kernel names have underscores for characters that PTX names cannot have.
static bool is_name(const char *instruction, size_t n, const char *kernel) {
  if (strlen(kernel) != n) return false;
  for (size_t i = 0; i < n; i++)
    if (kernel[i] != (isalnum((unsigned char)instruction[i]) ? instruction[i] : '_')) return false;
  return true;
}

static const char *find_instruction(const char *text, const char *kernel) {
  for (const char *line = text; line && *line; line = strchr(line, '\n')) {
    line += strspn(line, "\n ");
    if (!strncmp(line, "ROOT ", 5)) line += 5;
    const char *name = line + (*line == '%');
    size_t n = strcspn(name, " \n");
    if (!strncmp(name + n, " = ", 3) && is_name(name, n, kernel)) return line;
  }
  return NULL;
}

// The value of `key` between here and the end of the line; NULL: it has none
static const char *value(const char *line, const char *key) {
  const char *end = line + strcspn(line, "\n"), *at = strstr(line, key);
  return at && at < end ? at + strlen(key) : NULL;
}

static long number(const char *line, const char *key) {
  const char *at = value(line, key);
  return at ? strtol(at, NULL, 10) : 0;
}

// Colons separate the parts of a frame.
static void add_quoted(Str *out, const char *at) {
  for (; at && *at && *at != '"' && *at != '\n'; at++) str_addc(out, *at == ':' ? ' ' : *at);
}

// --- tables at the head of the program: files, functions, places, frames ---

// Line `id` of a table; NULL: there is none
static const char *row(const char *text, const char *table, long id) {
  Str heading = {0};
  str_printf(&heading, "\n%s\n", table);
  const char *at = strstr(text, heading.data);
  at = at ? at + heading.len : NULL;
  str_free(&heading);
  while (at && isdigit((unsigned char)*at)) {
    char *end;
    if (strtol(at, &end, 10) == id) return end + strspn(end, " ");
    at = strchr(at, '\n');
    at = at ? at + 1 : NULL;
  }
  return NULL;
}

static bool is_library(const Str *file) {
  return strstr(file->data, "/site-packages/") || strstr(file->data, "/dist-packages/");
}

// XLA may print the caller's number plus 1: then the first frame, which has no caller, shows 1.
static long caller_of(const char *text, long frame) {
  const char *first = row(text, "StackFrames", 1), *of_frame = row(text, "StackFrames", frame);
  long caller = of_frame ? number(of_frame, "parent_frame_id=") : 0;
  if (first && number(first, "parent_frame_id=") == 1) caller--;
  return caller > 0 && caller < frame ? caller : 0;
}

// Adds one of the user's own frames, with the operation; false: it is in a library, or not known
static bool add_frame(Str *out, const char *text, const char *operation, long frame) {
  const char *of_frame = row(text, "StackFrames", frame), *place, *name, *function;
  place = of_frame ? row(text, "FileLocations", number(of_frame, "file_location_id=")) : NULL;
  name = place ? row(text, "FileNames", number(place, "file_name_id=")) : NULL;
  function = place ? row(text, "FunctionNames", number(place, "function_name_id=")) : NULL;
  Str file = {0};
  add_quoted(&file, name && *name == '"' ? name + 1 : NULL);
  bool own = file.len && !is_library(&file);
  if (own) {
    str_printf(out, "%s:%ld:", file.data, number(place, " line="));
    add_quoted(out, function && *function == '"' ? function + 1 : NULL);
    if (operation) str_add(out, ", ");
    add_quoted(out, operation);
    str_add(out, "\n");
  }
  str_free(&file);
  return own;
}

// Adds where an instruction comes from; with_callers: and the calls that led there.
static void add_lines(Str *out, const char *text, const char *line, bool with_callers) {
  const char *metadata = value(line, "metadata={");
  if (!metadata) return;
  const char *operation = value(metadata, "op_name=\""), *file = value(metadata, "source_file=\"");
  long frame = number(metadata, "stack_frame_id=");
  bool any = false;
  for (unsigned i = 0; frame && i < MOST_FRAMES && (with_callers || !any); i++) {
    if (add_frame(out, text, operation, frame)) {
      any = true;
      operation = NULL;
    }
    frame = caller_of(text, frame);
  }
  if (any || !file) return;
  add_quoted(out, file);
  str_printf(out, ":%ld:", number(metadata, "source_line="));
  add_quoted(out, operation ? operation : "?");
  str_add(out, "\n");
}

// --- fused operations ---

static bool has_line(const Str *lines, const Str *line) {
  const char *at = lines->len ? strstr(lines->data, line->data) : NULL;
  return at && (at == lines->data || at[-1] == '\n');
}

// Adds the operations of a fusion, the last first: each may come from another line.
static void add_fused(Str *out, const char *text, const char *line) {
  const char *name = value(line, "calls=%"), *at, *ends[MOST_FRAMES];
  Str heading = {0};
  uint32_t n = 0;
  if (!name) return;
  str_printf(&heading, "\n%%%.*s (", (int)strcspn(name, ", \n"), name);
  at = strstr(text, heading.data);
  at = at ? strchr(at + 1, '\n') : NULL;
  for (; at && at[1] && at[1] != '}'; at = strchr(at + 1, '\n')) ends[n++ % MOST_FRAMES] = at + 1;
  for (uint32_t i = 0; i < n && i < MOST_FRAMES; i++) {
    Str one = {0};
    add_lines(&one, text, ends[(n - 1 - i) % MOST_FRAMES], false);
    if (one.len && !has_line(out, &one)) str_add(out, one.data);
    str_free(&one);
  }
  str_free(&heading);
}

// Describes the instruction itself, what is fused with it, and the calls that led there.
static void describe(Str *out, const char *text, const char *line) {
  Str all = {0};
  add_lines(out, text, line, false);
  size_t first = out->len;
  add_lines(&all, text, line, true);
  add_fused(out, text, line);
  if (all.len > first) str_add(out, all.data + first);
  str_free(&all);
}

char *where_hlo(const char *kernel) {
  const char *folder = getenv("WARPGRIND_XLA_DUMPS");
  Str lines = {0};
  if (!folder || !*folder) return NULL;
  Dump *dumps = mem_alloc(MOST_FILES * sizeof *dumps);
  uint32_t n = list_dumps(folder, dumps);
  for (uint32_t i = 0; i < n; i++) {
    Error err = {{0}};
    Str text = {0};
    bool read = !lines.len && file_read(dumps[i].path, &text, &err) && text.len;
    const char *line = read ? find_instruction(text.data, kernel) : NULL;
    if (line) describe(&lines, text.data, line);
    str_free(&text);
    free(dumps[i].path);
  }
  free(dumps);
  return lines.data;
}
