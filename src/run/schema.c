// The tables of a run file (schema.def): creates them and fills in rows.
#include "run/internal.h"

// Lists end with a comma, which the code that makes a statement of them removes.
static const char *const columns[] = {
#define COLUMN(name, type) #name " " type ","
#define TABLE(name, columns) columns,
#define VIEW(name, select)
#include "run/schema.def"
};
static const char *const marks[] = {
#define COLUMN(name, type) "?,"
#define TABLE(name, columns) columns,
#define VIEW(name, select)
#include "run/schema.def"
};
static const char *const tables[TABLE_COUNT] = {
#define COLUMN(name, type)
#define TABLE(name, columns) #name,
#define VIEW(name, select)
#include "run/schema.def"
};
const char *const run_views[] = {
#define COLUMN(name, type)
#define TABLE(name, columns)
#define VIEW(name, select) "CREATE VIEW " #name " AS " select,
#include "run/schema.def"
};
const unsigned run_nviews = ARRAY_LEN(run_views);
const char *const run_indexes[] = {"CREATE INDEX frame_stack ON frame(stack)",
                                   "CREATE INDEX place_site ON place(site)"};
const unsigned run_nindexes = ARRAY_LEN(run_indexes);

static void add_list(Str *s, const char *list) {
  str_addn(s, list, strlen(list) - 1);
  str_addc(s, ')');
}

void run_create_statement(RunTable t, Str *out) {
  str_printf(out, "CREATE TABLE %s (", tables[t]);
  add_list(out, columns[t]);
}

void run_insert_statement(RunTable t, Str *out) {
  str_printf(out, "INSERT OR REPLACE INTO %s VALUES (", tables[t]);
  add_list(out, marks[t]);
}

unsigned run_column_count(RunTable t) { return (unsigned)strlen(marks[t]) / 2; }
