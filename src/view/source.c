// Source files: only those the kernels' own places name, by number, so that no path ever comes from a request.
#include "view/internal.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SOURCE_MOST = 4 << 20 };

static void read_files(ViewDesk *d) {
  if (d->files_read) return;
  d->files_read = true;
  ViewRows r = view_rows(d, "SELECT file FROM place WHERE file IS NOT NULL GROUP BY file ORDER BY min(rowid) LIMIT 20000", "");
  while (view_next(&r))
    if (view_column_text(&r, 0)) vec_push(&d->files, mem_strdup(view_column_text(&r, 0)));
}

int view_file_number(ViewDesk *d, const char *file) {
  read_files(d);
  for (uint32_t i = 0; i < d->files.len; i++)
    if (strcmp(d->files.data[i], file) == 0) return (int)i;
  return -1;
}

// Plain text of a sensible size, or why not.
static bool read_source(const char *path, Str *out, Error *err) {
  int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  struct stat st;
  if (fd < 0) return error_set(err, "the file is not on this machine, or may not be read");
  bool ok = fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size <= SOURCE_MOST;
  close(fd);
  if (!ok) return error_set(err, "this is not a file of source code");
  if (!file_read(path, out, err)) return false;
  return !out->len || !memchr(out->data, 0, out->len) || error_set(err, "this is not a file of source code");
}

void view_answer_source(ViewDesk *d, ViewRequest *q, ViewAnswer *a) {
  uint64_t number = view_number(q, "file", 1 << 20);
  if (q->error.text[0]) return;
  read_files(d);
  if (number >= d->files.len) { view_fail(a, 404, "there is no such file in this run"); return; }
  const char *path = d->files.data[number];
  Str text = {0};
  Error err = {{0}};
  bool ok = read_source(path, &text, &err);
  char *whole = realpath(path, NULL);                      // for the link to an editor
  str_add(&a->body, "{");
  json_text(&a->body, "path", path);
  json_text(&a->body, "whole", whole);
  if (ok) json_text(&a->body, "text", text.data ? text.data : "");
  else json_text(&a->body, "missing", err.text);
  // Lines that kernels have instructions with records or findings in.
  json_open(&a->body, "lines", '[');
  ViewRows r = view_rows(d, "SELECT p.line, count(*), (SELECT count(*) FROM finding f JOIN place o ON o.site = f.site AND o.depth = 0 WHERE o.file = p.file AND o.line = p.line) "
                            "FROM place p WHERE p.file = ? GROUP BY p.line ORDER BY p.line LIMIT 100000", "t", path);
  for (bool first = true; view_next(&r); first = false)
    str_printf(&a->body, "%s[%llu,%llu,%llu]", first ? "" : ",", (unsigned long long)view_column(&r, 0), (unsigned long long)view_column(&r, 1), (unsigned long long)view_column(&r, 2));
  str_add(&a->body, "]}");
  free(whole);
  str_free(&text);
}
