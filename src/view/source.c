// Source files: only those that places of kernels name, requested by number, so that no request
// contains a path. A run file may come from somebody who means harm: a file is read only if the run
// file proves that this user recorded it (run/source_proof.c), or if it lies below a folder the
// user named.
#define _GNU_SOURCE
#include "view/internal.h"

#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SOURCE_MOST = 4 << 20 };

static void read_files(ViewDesk *d) {
  if (d->files_read) return;
  d->files_read = true;
  ViewRows r = view_rows(
      d,
      "SELECT file FROM place WHERE file IS NOT NULL GROUP BY file ORDER BY min(rowid) LIMIT 20000",
      "");
  while (view_next(&r))
    if (view_column_text(&r, 0)) vec_push(&d->files, mem_strdup(view_column_text(&r, 0)));
}

int view_file_number(ViewDesk *d, const char *file) {
  read_files(d);
  for (uint32_t i = 0; i < d->files.len; i++)
    if (strcmp(d->files.data[i], file) == 0) return (int)i;
  return -1;
}

const char *view_file_name(ViewDesk *d, uint32_t number) {
  read_files(d);
  return number < d->files.len ? d->files.data[number] : NULL;
}

// O_PATH has no effect on devices and pipes. The real path comes from the descriptor, after all
// links.
static int find_file(const char *path, Str *real) {
  char link[64], name[4096];
  struct stat st;
  int fd = open(path, O_PATH | O_CLOEXEC);
  if (fd < 0) return -1;
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t n = fstat(fd, &st) == 0 && S_ISREG(st.st_mode) ? readlink(link, name, sizeof name) : -1;
  if (n > 0 && n < (ssize_t)sizeof name && name[0] == '/') {
    real->len = 0;
    str_addn(real, name, (size_t)n);
    return fd;
  }
  close(fd);
  return -1;
}

static int find_proved(ViewDesk *d, const char *file, Str *real) {
  int fd = -1;
  ViewRows r = view_rows(d, "SELECT real, proof FROM source_file WHERE path = ? LIMIT 8", "t",
                         file);
  while (fd < 0 && view_next(&r)) {
    const char *name = view_column_text(&r, 0), *proof = view_column_text(&r, 1);
    if (!name || !proof || name[0] != '/' || !run_source_is_proved(name, proof)) continue;
    fd = find_file(name, real);
    if (fd >= 0 && strcmp(real->data, name) != 0) {  // a link has been put in its way since
      close(fd);
      fd = -1;
    }
  }
  view_rows_end(&r);
  return fd;
}

static bool is_below(const char *real, const char *folder) {
  size_t n = strlen(folder);
  while (n && folder[n - 1] == '/') n--;
  return strncmp(real, folder, n) == 0 && real[n] == '/';
}

static int find_below(const char *path, const char *folder, Str *real) {
  int fd = find_file(path, real);
  if (fd < 0 || is_below(real->data, folder)) return fd;
  close(fd);
  return -1;
}

// Opens the file itself if it lies below the folder. Otherwise, for sources of another machine, the
// longest end of its path that exists there.
static int find_in_folder(const char *file, const char *folder, Str *real) {
  if (strlen(file) >= PATH_MAX) return -1;
  int fd = file[0] == '/' ? find_below(file, folder, real) : -1;
  for (const char *end = file; fd < 0 && end; end = strchr(end, '/')) {
    end += strspn(end, "/");
    Str path = {0};
    str_printf(&path, "%s/%s", folder, end);
    fd = *end ? find_below(path.data, folder, real) : -1;
    str_free(&path);
  }
  return fd;
}

static bool read_text(int fd, Str *out) {
  char buffer[65536];
  ssize_t n;
  while ((n = read(fd, buffer, sizeof buffer)) > 0 && out->len + (size_t)n <= SOURCE_MOST)
    str_addn(out, buffer, (size_t)n);
  if (!out->data) str_add(out, "");
  return n == 0 && !memchr(out->data, 0, out->len);
}

// The text that the run file keeps: as the file was when the run was recorded.
static bool read_kept(ViewDesk *d, const char *file, Str *text) {
  ViewRows r = view_rows(d, "SELECT bytes, data FROM source_text WHERE path = ? LIMIT 1", "t",
                         file);
  bool ok = view_next(&r) && view_unpack(&r, 0, 1, text) && !memchr(text->data, 0, text->len);
  view_rows_end(&r);
  if (!ok) str_free(text);
  if (!ok) *text = (Str){0};
  return ok;
}

// As run/source_text.c computes it.
static uint64_t hash_of(const Str *text) {
  uint64_t h = 0xcbf29ce484222325ull;
  for (size_t i = 0; i < text->len; i++) h = (h ^ (uint8_t)text->data[i]) * 0x100000001b3ull;
  return h;
}

// The warning that a reader needs for the text; NULL: none.
static const char *warning_of(ViewDesk *d, const char *file, const Str *text, bool kept) {
  ViewRows r = view_rows(d, "SELECT hash, newer FROM source_file WHERE path = ? LIMIT 1", "t",
                         file);
  bool found = view_next(&r);
  const char *hash = found ? view_column_text(&r, 0) : NULL;
  bool newer = found && view_column(&r, 1);
  char now[17];
  snprintf(now, sizeof now, "%016llx", (unsigned long long)hash_of(text));
  bool changed = !kept && hash && strcmp(hash, now) != 0;
  view_rows_end(&r);
  return changed ? "This file has changed since the run was recorded: lines may be others. Record "
                   "again without --no-sources to keep the text in the run file."
         : newer
             ? "This file was younger than the program when it was recorded: lines may be others. "
               "Compile and record again."
             : NULL;
}

bool view_source_read(ViewDesk *d, const char *file, Str *text, Str *real, Error *err) {
  if (read_kept(d, file, text)) {
    str_add(real, file);
    return true;
  }
  int found = find_proved(d, file, real);
  for (unsigned i = 0; found < 0 && d->sources && i < d->sources->nfolders; i++)
    found = find_in_folder(file, d->sources->folders[i], real);
  if (found < 0)
    return error_set(err, "it is not shown: the file is not there any more, or the run was not "
                          "recorded by you on this machine. "
                          "warpgrind view --source=FOLDER shows sources that lie below FOLDER");
  char name[64];
  snprintf(name, sizeof name, "/proc/self/fd/%d", found);
  int fd = open(name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  bool ok = fd >= 0 && read_text(fd, text);
  if (fd >= 0) close(fd);
  close(found);
  if (fd < 0) return error_set(err, "the file may not be read");
  return ok ||
         error_set(err, "this is not a file of source code: it has more than %d MB, or is not text",
                   SOURCE_MOST >> 20);
}

void view_answer_source(ViewDesk *d, ViewRequest *q, ViewAnswer *a) {
  uint64_t number = view_number(q, "file", 1 << 20);
  if (q->error.text[0]) return;
  const char *path = view_file_name(d, (uint32_t)number);
  if (!path) {
    view_fail(a, 404, "there is no such file in this run");
    return;
  }
  Str text = {0}, real = {0};
  Error err = {{0}};
  bool ok = view_source_read(d, path, &text, &real, &err),
       kept = ok && view_one(d, "SELECT count(*) FROM source_text WHERE path = ?", "t", path);
  str_add(&a->body, "{");
  json_text(&a->body, "path", path);
  json_text(&a->body, "whole", ok ? real.data : NULL);  // for the link to an editor
  if (ok) json_text(&a->body, "text", text.data);
  else json_text(&a->body, "missing", err.text);
  json_text(&a->body, "warning", ok ? warning_of(d, path, &text, kept) : NULL);
  json_key(&a->body, "kept");
  str_add(&a->body, kept ? "true" : "false");
  // Lines that kernels have instructions with records or findings in.
  json_open(&a->body, "lines", '[');
  ViewRows r = view_rows(
      d,
      "SELECT p.line, count(*), (SELECT count(*) FROM finding f JOIN place o ON o.site = f.site "
      "AND o.depth = 0 WHERE o.file = p.file AND o.line = p.line) "
      "FROM place p WHERE p.file = ? GROUP BY p.line ORDER BY p.line LIMIT 100000",
      "t", path);
  for (bool first = true; view_next(&r); first = false)
    str_printf(&a->body, "%s[%llu,%llu,%llu]", first ? "" : ",",
               (unsigned long long)view_column(&r, 0), (unsigned long long)view_column(&r, 1),
               (unsigned long long)view_column(&r, 2));
  str_add(&a->body, "]}");
  str_free(&real);
  str_free(&text);
}
