// --dump-buffers: renames the temporary files that the program wrote to NAME.LAUNCH.txt and
// converts them to text, one element to a line. A thread of its own does it, so that other events
// do not wait.
#include "cli/dump_files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/dump_option.h"
#include "diff/diff.h"

typedef struct Job {
  char *from, *to;
  DiffType type;
  struct Job *next;
} Job;

static DumpOption asked;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t more = PTHREAD_COND_INITIALIZER;
static Job *first, *last;
static bool started, ending;
static pthread_t thread;
static char failure[1024];  // "": none
static uint64_t written;

// --- the folder ---

static bool make_folders(const char *path, Error *err) {
  Str part = {0};
  bool ok = true;
  for (const char *p = path; ok; p++) {
    if ((*p == '/' || !*p) && part.len && mkdir(part.data, 0777) != 0 && errno != EEXIST)
      ok = error_set(err, "--dump-buffers: the folder %s cannot be made: %s.", part.data,
                     strerror(errno));
    if (!*p) break;
    str_addc(&part, *p);
  }
  str_free(&part);
  return ok;
}

static bool is_empty(const char *path, Error *err) {
  DIR *d = opendir(path);
  if (!d)
    return error_set(err, "--dump-buffers: the folder %s cannot be opened: %s.", path,
                     strerror(errno));
  bool empty = true;
  for (const struct dirent *e; (e = readdir(d));)
    empty &= !strcmp(e->d_name, ".") || !strcmp(e->d_name, "..");
  closedir(d);
  return empty || error_set(err,
                            "--dump-buffers: the folder %s is not empty, and nothing in it is "
                            "overwritten. Name another one.",
                            path);
}

bool cli_dump_check(Options *o, Error *err) {
  if (!options_given(o, OPT_DUMP_BUFFERS)) return true;
  const char *text = options_text(o, OPT_DUMP_BUFFERS);
  if (!dump_option_parse(text, &asked, err) || !make_folders(asked.folder, err) ||
      !is_empty(asked.folder, err))
    return false;
  char *absolute = realpath(asked.folder, NULL);  // the program may change its folder
  if (!absolute || strlen(absolute) >= sizeof asked.folder || strchr(absolute, ','))
    return error_set(err, "--dump-buffers: the name of the folder must not have a comma in it: %s.",
                     absolute ? absolute : text);
  Str full = {0};
  str_printf(&full, "%s%s", absolute, text + strcspn(text, ","));
  strcpy(asked.folder, absolute);
  free(absolute);
  o->text[OPT_DUMP_BUFFERS] = full.data;  // lives as long as the options
  return true;
}

// --- text ---

static bool fail(const char *what) {
  pthread_mutex_lock(&lock);
  if (!failure[0])
    snprintf(failure, sizeof failure,
             "--dump-buffers: %s cannot be written: %s. What could not be written is left out, or "
             "in binary files beside.",
             what, strerror(errno));
  pthread_mutex_unlock(&lock);
  return false;
}

// Only the owner may read the contents of buffers.
static FILE *create_private(const char *path) {
  int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  FILE *f = fd >= 0 ? fdopen(fd, "w") : NULL;
  if (fd >= 0 && !f) close(fd);
  return f;
}

static bool convert(const Job *j) {
  enum { CHUNK = 1 << 16 };
  FILE *in = fopen(j->from, "rb"), *out = in ? create_private(j->to) : NULL;
  static char bytes[CHUNK];
  Str text = {0};
  bool ok = out != NULL;
  for (size_t n; ok && (n = fread(bytes, 1, sizeof bytes, in)) > 0;) {
    text.len = 0;
    size_t at = 0;
    for (; at + j->type.bytes <= n; at += j->type.bytes) {
      diff_print(&text, diff_load(bytes + at, j->type), j->type);
      str_addc(&text, '\n');
    }
    // bytes after the last whole element
    for (; at < n; at++) str_printf(&text, "0x%02x\n", (unsigned char)bytes[at]);
    ok = fwrite(text.data, 1, text.len, out) == text.len;
  }
  ok = ok && !ferror(in);
  if (out && fclose(out) != 0) ok = false;
  if (!ok) fail(j->to);
  if (!ok && out) unlink(j->to);
  if (in) fclose(in);
  if (ok) unlink(j->from);
  str_free(&text);
  return ok;
}

static void *work(void *unused) {
  pthread_mutex_lock(&lock);
  for (;;) {
    while (!first && !ending) pthread_cond_wait(&more, &lock);
    Job *j = first;
    if (!j) break;
    first = j->next;
    if (!first) last = NULL;
    pthread_mutex_unlock(&lock);
    convert(j);
    free(j->from);
    free(j->to);
    free(j);
    pthread_mutex_lock(&lock);
  }
  pthread_mutex_unlock(&lock);
  return NULL;
}

// --- names ---

static void add_clean(Str *s, const char *name) {
  for (const char *p = name; *p; p++)
    str_addc(s, (*p >= 'a' && *p <= 'z') || (*p >= 'A' && *p <= 'Z') || (*p >= '0' && *p <= '9') ||
                        *p == '_' || *p == '-' || *p == '.'
                    ? *p
                    : '_');
}

// Buffers without a name are numbered in the order in which they are first dumped.
static uint32_t number_of(uint32_t allocation) {
  static U64Map numbers;
  void *known = u64map_get(&numbers, allocation);
  if (!known) u64map_put(&numbers, allocation, known = (void *)(uintptr_t)(numbers.len + 1));
  return (uint32_t)(uintptr_t)known;
}

// A run overwrites none of its own files: the second buffer of a name is NAME-2.
static void final_name(const RunDump *d, Str *out) {
  static StrMap taken;
  for (unsigned n = 1;; n++) {
    out->len = 0;
    str_printf(out, "%s/", asked.folder);
    if (d->process > 1) str_printf(out, "process%u.", d->process);
    if (d->name) add_clean(out, d->name);
    else str_printf(out, "buffer%u", number_of(d->allocation));
    if (n > 1) str_printf(out, "-%u", n);
    str_printf(out, ".%s%06u.%s", d->launch ? "" : "graph", d->launch ? d->launch : d->graph,
               asked.binary ? "bin" : "txt");
    if (strmap_get(&taken, out->data) || access(out->data, F_OK) == 0) continue;
    strmap_put(&taken, mem_strdup(out->data), &taken);
    return;
  }
}

const char *cli_dump_file(Run *r, const RunDump *d, void *user) {
  Str to = {0};
  if (strncmp(d->from, asked.folder, strlen(asked.folder))) return NULL;
  final_name(d, &to);
  const char *name = run_text(r, to.data);
  written++;
  if (asked.binary) {
    if (rename(d->from, to.data) != 0) fail(to.data);
    str_free(&to);
    return name;
  }
  Job *j = mem_alloc(sizeof *j);
  *j = (Job){.from = mem_strdup(d->from),
             .to = to.data,
             .type = diff_type(d->type, d->element ? d->element : 1)};
  pthread_mutex_lock(&lock);
  if (last) last = last->next = j;
  else first = last = j;
  if (!started) started = pthread_create(&thread, thread_attributes(), work, NULL) == 0;
  pthread_cond_signal(&more);
  pthread_mutex_unlock(&lock);
  return name;
}

void cli_dump_end(Run *r) {
  if (!asked.folder[0]) return;
  pthread_mutex_lock(&lock);
  ending = true;
  pthread_cond_signal(&more);
  pthread_mutex_unlock(&lock);
  if (started) pthread_join(thread, NULL);
  if (failure[0]) run_add_note(r, NULL, SEVERITY_WARNING, "%s", failure);
  if (failure[0] && !r->failure) r->failure = run_text(r, failure);
  log_line("%llu buffers were written to %s", (unsigned long long)written, asked.folder);
}
