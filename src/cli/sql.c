// warpgrind sql: prints the answer of a run file to a query: names, then one line per row, columns
// separated by tabs.
#include "cli/cli.h"

#include "run/run.h"
#include "store/store.h"
#include "trace/trace.h"

static void print_names(sqlite3_stmt *s) {
  for (int i = 0; i < sqlite3_column_count(s); i++)
    printf("%s%s", i ? "\t" : "", sqlite3_column_name(s, i));
  putchar('\n');
}

static void print_row(sqlite3_stmt *s) {
  for (int i = 0; i < sqlite3_column_count(s); i++) {
    const char *text = (const char *)sqlite3_column_text(s, i);
    printf("%s%s", i ? "\t" : "", text ? text : "");
  }
  putchar('\n');
}

static int run_statements(sqlite3 *db, const char *path, const char *sql) {
  while (*sql) {
    sqlite3_stmt *s = NULL;
    const char *rest;
    if (sqlite3_prepare_v2(db, sql, -1, &s, &rest) != SQLITE_OK)
      return cli_fail("%s: %s.", path, store_message(db));
    sql = rest;
    if (!s) continue;  // only spaces or a comment
    if (sqlite3_column_count(s)) print_names(s);
    int code;
    while ((code = sqlite3_step(s)) == SQLITE_ROW && !ferror(stdout)) print_row(s);
    sqlite3_finalize(s);
    if (ferror(stdout)) return 0;  // main says so
    if (code != SQLITE_DONE) return cli_fail("%s: %s.", path, store_message(db));
  }
  return 0;
}

// No time limit: the query is the user's own.
int cli_query(const char *path, const char *sql) {
  Error err = {{0}};
  Store *store = run_open(path, false, &err);
  if (!store) return cli_fail("%s", err.text);
  int code;
  store_set_deadline(store, 0);
  if (run_lacks_something(store, &err)) fprintf(stderr, "warpgrind: note: %s\n", err.text);
  if (!trace_register(store->db, &err)) code = cli_fail("%s", err.text);
  else {
    if (strstr(sql, "race") && trace_has_operations(store->db) && !trace_knows_order(store->db))
      fprintf(stderr, "warpgrind: note: %s.\n", trace_order_unknown);
    trace_prepare_memory();
    code = run_statements(store->db, path, sql);
    if (!code && !store_is_whole(store, &err)) code = cli_fail("%s", err.text);
  }
  store_close(store);
  return code;
}

int cli_sql(const CliArguments *a) { return cli_query(a->words.data[0], a->words.data[1]); }
