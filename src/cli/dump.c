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

int cli_dump(int argc, char **argv) {
  if (argc < 2) return cli_fail("usage: warpgrind dump FILE [TABLE…]");
  int code = 0;
  for (int i = 2; i < argc && !code; i++) {
    if (!is_table(argv[i])) return cli_fail("dump: a run file has no table %s.", argv[i]);
    code = dump(argv[1], argv[i]);
  }
  for (size_t i = 0; argc == 2 && i < ARRAY_LEN(tables) && !code; i++)
    code = dump(argv[1], tables[i]);
  return code;
}
