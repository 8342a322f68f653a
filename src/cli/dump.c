// warpgrind dump: every table of a run file as it is, or those that are named.
#include "cli/cli.h"

static const char *const tables[] = {
#define COLUMN(name, type)
#define TABLE(name, columns) #name,
#define VIEW(name, select)
#include "run/schema.def"
};

static int dump(const char *path, const char *table) {
  char sql[128];
  printf("# %s\n", table);
  snprintf(sql, sizeof sql, "SELECT * FROM %s", table);
  return cli_query(path, sql);
}

static bool is_table(const char *name) {
  for (size_t i = 0; i < ARRAY_LEN(tables); i++)
    if (strcmp(tables[i], name) == 0) return true;
  return false;
}

int cli_dump(const CliArguments *a) {
  const char *path = a->words.data[0];
  int code = 0;
  for (uint32_t i = 1; i < a->words.len && !code; i++) {
    const char *table = a->words.data[i];
    if (!is_table(table)) return cli_fail("dump: a run file has no table %s.", table);
    code = dump(path, table);
  }
  for (size_t i = 0; a->words.len == 1 && i < ARRAY_LEN(tables) && !code; i++)
    code = dump(path, tables[i]);
  return code;
}
