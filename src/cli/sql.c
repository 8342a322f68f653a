// warpgrind sql: a question to a run file. The answer has one line per row, columns separated by tabs, names first.
#include "cli/cli.h"

#include "run/run.h"
#include "trace/trace.h"

#include <sqlite3.h>
#include <unistd.h>

static void print_names(sqlite3_stmt *s) {
  for (int i = 0; i < sqlite3_column_count(s); i++) printf("%s%s", i ? "\t" : "", sqlite3_column_name(s, i));
  putchar('\n');
}

static void print_row(sqlite3_stmt *s) {
  for (int i = 0; i < sqlite3_column_count(s); i++) {
    const char *text = (const char *)sqlite3_column_text(s, i);
    printf("%s%s", i ? "\t" : "", text ? text : "");
  }
  putchar('\n');
}

static bool is_recorded(sqlite3 *db) {
  sqlite3_stmt *s = NULL;
  bool yes = sqlite3_prepare_v2(db, "SELECT 1 FROM sqlite_master WHERE type='table' AND name='trace_chunk'", -1, &s, NULL) == SQLITE_OK && sqlite3_step(s) == SQLITE_ROW;
  sqlite3_finalize(s);
  return yes;
}

static int run_statements(sqlite3 *db, const char *sql) {
  while (*sql) {
    sqlite3_stmt *s = NULL;
    const char *rest;
    if (sqlite3_prepare_v2(db, sql, -1, &s, &rest) != SQLITE_OK) return cli_fail("%s.", sqlite3_errmsg(db));
    sql = rest;
    if (!s) continue;                          // only spaces or a comment
    if (sqlite3_column_count(s)) print_names(s);
    int code;
    while ((code = sqlite3_step(s)) == SQLITE_ROW && !ferror(stdout)) print_row(s);
    sqlite3_finalize(s);
    if (ferror(stdout)) return 0;              // main says so
    if (code != SQLITE_DONE) return cli_fail("%s.", sqlite3_errmsg(db));
  }
  return 0;
}

int cli_query(const char *path, const char *sql) {
  sqlite3 *db;
  Error err = {{0}};
  if (access(path, R_OK) != 0) return cli_fail("%s: there is no such file, or it may not be read.", path);
  bool opened = sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY, NULL) == SQLITE_OK;
  int code;
  if (!opened) code = cli_fail("%s: %s.", path, sqlite3_errmsg(db));
  else if (!run_file_check(db, path, &err) || !trace_register(db, &err)) code = cli_fail("%s", err.text);
  else {
    if (strstr(sql, "race") && is_recorded(db) && !trace_knows_order(db)) fprintf(stderr, "warpgrind: note: %s.\n", trace_order_unknown);
    trace_prepare_memory();
    code = run_statements(db, sql);
  }
  sqlite3_close(db);
  return code;
}

int cli_sql(int argc, char **argv) {
  if (argc != 3) return cli_fail("usage: warpgrind sql FILE \"SELECT …\"");
  return cli_query(argv[1], argv[2]);
}
