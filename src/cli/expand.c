// warpgrind expand: replays launches of a run with --record=inputs under the recorder, with the
// recorded contents of memory. The result is an ordinary run file. Names of buffers, host stacks
// and launch numbers are copied from the original run.
#define _GNU_SOURCE
#include "cli/expand.h"

#include <errno.h>
#include <sys/personality.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

typedef struct Expand {
  const char *path, *out, *device, *tool, *given_out;
  uint32_t process, first, last;
  Str out_name, map;
} Expand;

static bool read_launches(Expand *x, const char *v, Error *err) {
  char *end;
  x->first = x->last = (uint32_t)strtoul(v, &end, 10);
  if (end[0] == '.' && end[1] == '.' && end[2]) x->last = (uint32_t)strtoul(end + 2, &end, 10);
  return (*v >= '0' && *v <= '9' && !*end && x->first && x->last >= x->first) ||
         error_set(err, "--launch=%s: expected the number of a launch, or two as in 3..7.", v);
}

static bool read_arguments(const CliArguments *a, Expand *x, Error *err) {
  const char *device = cli_value(a, CLI_EXPAND_DEVICE), *tool = cli_value(a, CLI_EXPAND_TOOL);
  x->path = a->words.data[0];
  x->given_out = cli_value(a, CLI_EXPAND_OUTPUT);
  x->device = device ? device : "auto";
  x->tool = tool ? tool : "none";
  return read_launches(x, cli_value(a, CLI_EXPAND_LAUNCH), err) &&
         cli_number(a, CLI_EXPAND_PROCESS, 0, UINT32_MAX, &x->process, err);
}

// run.wg becomes run-launch3.wg.
static void choose_name(Expand *x) {
  size_t n = strlen(x->path);
  if (n > 3 && !strcmp(x->path + n - 3, ".wg")) n -= 3;
  if (x->given_out) str_add(&x->out_name, x->given_out);
  else if (x->first == x->last)
    str_printf(&x->out_name, "%.*s-launch%u.wg", (int)n, x->path, x->first);
  else str_printf(&x->out_name, "%.*s-launch%u-%u.wg", (int)n, x->path, x->first, x->last);
  x->out = x->out_name.data;
  str_printf(&x->map, "%s.map-%d", x->out, (int)getpid());
}

// --- preparing ---

static void set_addresses(const KeptAllocations *a) {
  uint64_t low = UINT64_MAX, high = 0;
  char text[64];
  for (uint32_t i = 0; i < a->len; i++) {
    if (a->data[i].is_variable) continue;
    low = MIN(low, a->data[i].base);
    high = MAX(high, a->data[i].base + a->data[i].size);
  }
  if (low >= high) return;
  snprintf(text, sizeof text, "0x%llx-0x%llx", (unsigned long long)low, (unsigned long long)high);
  setenv("WARPGRIND_ADDRESSES", text, 1);
}

static bool look(Expand *x, Error *err) {
  Store *store = run_open(x->path, false, err);
  KeptAllocations allocations = {0};
  bool any = false;
  if (!store) return false;
  uint32_t last = 0;
  for (uint32_t n = x->first; n <= x->last && n - x->first < 1 << 20; n++) {
    KeptLaunch l;
    if (!kept_launch_load(store->db, x->process, n, &l, err)) continue;
    any = true;
    last = n;
    x->process = l.process;
    if (!allocations.len) kept_allocations_load(store->db, &l, &allocations, err);
    kept_launch_free(&l);
  }
  store_close(store);
  if (any) set_addresses(&allocations);
  kept_allocations_free(&allocations);
  if (any) {
    err->text[0] = 0;
    x->last = last;
  }
  return any;
}

// --- the run ---

static int run(const Expand *x) {
  char self[4096], first[16], last[16], process[16];
  ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
  if (n <= 0) return cli_fail("expand: the command itself cannot be found.");
  self[n] = 0;
  snprintf(first, sizeof first, "%u", x->first);
  snprintf(last, sizeof last, "%u", x->last);
  snprintf(process, sizeof process, "%u", x->process);
  Str device = {0}, tool = {0};
  str_printf(&device, "--device=%s", x->device);
  str_printf(&tool, "--tool=%s", x->tool);
  char *args[] = {"warpgrind",
                  "--record",
                  "--host-stacks=no",
                  device.data,
                  tool.data,
                  "-q",
                  "-o",
                  (char *)x->out,
                  "--",
                  self,
                  CLI_REPLAY,
                  (char *)x->path,
                  process,
                  first,
                  last,
                  x->map.data,
                  NULL};
  fflush(NULL);
  pid_t pid = fork();
  if (!pid) {
    personality(ADDR_NO_RANDOMIZE);  // so that the original addresses are free
    execv(self, args);
    _exit(EXIT_WARPGRIND);
  }
  int status = 0;
  while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR) continue;
  str_free(&device);
  str_free(&tool);
  return pid < 0             ? EXIT_WARPGRIND
         : WIFEXITED(status) ? WEXITSTATUS(status)
                             : EXIT_SIGNAL + WTERMSIG(status);
}

// --- completing the new file from the original run ---

static bool sql(sqlite3 *db, const char *text, Error *err) {
  char *why = NULL;
  if (sqlite3_exec(db, text, NULL, NULL, &why) == SQLITE_OK) return true;
  error_set(err, "expand: the new run file cannot be completed: %s.", why ? why : "?");
  sqlite3_free(why);
  return false;
}

static bool read_map(const Expand *x, sqlite3 *db, Error *err) {
  Str text = {0}, line = {0};
  if (!file_read(x->map.data, &text, err)) return false;
  uint32_t launch = 0;
  bool ok = sql(db,
                "CREATE TEMP TABLE was_allocation(base INTEGER, then_id INTEGER); CREATE TEMP "
                "TABLE was_launch(now INTEGER, number INTEGER, then_id INTEGER);",
                err);
  for (char *p = text.data, *next; ok && p && *p; p = next) {
    unsigned long long a;
    unsigned b;
    next = strchr(p, '\n');
    next = next ? next + 1 : p + strlen(p);
    line.len = 0;
    if (sscanf(p, "allocation %llu %u", &a, &b) == 2)
      str_printf(&line, "INSERT INTO was_allocation VALUES (%llu, %u)", a, b);
    else if (sscanf(p, "launch %llu %u", &a, &b) == 2)
      str_printf(&line, "INSERT INTO was_launch VALUES (%u, %llu, %u)", ++launch, a, b);
    if (line.len) ok = sql(db, line.data, err);
  }
  str_free(&text);
  str_free(&line);
  return ok;
}

// Copies stacks under new ids, and deletes allocations that only reserve address space.
static const char complete_sql[] =
    "DELETE FROM was_allocation WHERE rowid NOT IN (SELECT max(rowid) FROM was_allocation GROUP BY "
    "base);"
    "CREATE TEMP TABLE used AS SELECT stack AS id FROM was.allocation WHERE id IN (SELECT then_id "
    "FROM was_allocation) UNION SELECT stack FROM was.launch WHERE id IN (SELECT then_id FROM "
    "was_launch);"
    "DELETE FROM used WHERE id IS NULL OR id = 0;"
    "CREATE TEMP TABLE first_free AS SELECT (SELECT coalesce(max(id), 0) FROM stack) + (SELECT "
    "coalesce(max(id), 0) FROM allocation) + (SELECT coalesce(max(id), 0) FROM step) AS id;"
    "INSERT INTO stack SELECT s.id + f.id, (SELECT min(id) FROM process), s.python FROM was.stack "
    "s, first_free f WHERE s.id IN (SELECT id FROM used);"
    "INSERT INTO frame SELECT r.stack + f.id, r.depth, r.address, r.object, r.function, r.file, "
    "r.line, r.inlined, r.python FROM was.frame r, first_free f WHERE r.stack IN (SELECT id FROM "
    "used);"
    "DELETE FROM allocation WHERE kind = 'virtual' AND base NOT IN (SELECT base FROM "
    "was_allocation);"
    "UPDATE allocation SET (kind, name, pointer, stack) = (SELECT t.kind, t.name, t.pointer, CASE "
    "WHEN t.stack THEN t.stack + (SELECT id FROM first_free) ELSE 0 END "
    "  FROM was_allocation w JOIN was.allocation t ON t.id = w.then_id WHERE w.base = "
    "allocation.base) WHERE base IN (SELECT base FROM was_allocation) AND kind <> 'virtual';"
    "DELETE FROM allocation WHERE kind = 'virtual';"
    "UPDATE launch SET (stack, stream) = (SELECT CASE WHEN t.stack THEN t.stack + (SELECT id FROM "
    "first_free) ELSE 0 END, t.stream FROM was_launch w JOIN was.launch t ON t.id = w.then_id "
    "  WHERE w.now = launch.number) WHERE number IN (SELECT now FROM was_launch);"
    "UPDATE step SET stack = (SELECT l.stack FROM launch l WHERE l.id = step.launch) WHERE kind = "
    "'launch';"
    "UPDATE trace_chunk SET launch = (SELECT w.number & 16777215 FROM was_launch w WHERE w.now = "
    "trace_chunk.launch) WHERE launch IN (SELECT now FROM was_launch);"
    "UPDATE launch SET number = (SELECT w.number FROM was_launch w WHERE w.now = launch.number) "
    "WHERE number IN (SELECT now FROM was_launch);"
    "UPDATE meta SET value = (SELECT value FROM was.meta WHERE key = 'program') WHERE key = "
    "'program';"
    "UPDATE process SET program = (SELECT t.program FROM was.process t ORDER BY t.id LIMIT 1), "
    "arguments = (SELECT t.arguments FROM was.process t ORDER BY t.id LIMIT 1);";

// Copies proofs of sources (source_proof.c), which stay valid; a replay makes none. Files of older
// versions lack the table.
static bool copy_proofs(sqlite3 *db, Error *err) {
  sqlite3_stmt *s = NULL;
  bool has = sqlite3_prepare_v2(
                 db,
                 "SELECT 1 FROM was.sqlite_master WHERE type = 'table' AND name = 'source_file'",
                 -1, &s, NULL) == SQLITE_OK &&
             sqlite3_step(s) == SQLITE_ROW;
  sqlite3_finalize(s);
  return !has ||
         sql(db,
             "INSERT OR IGNORE INTO source_file(path, real, proof) SELECT path, real, proof "
             "FROM was.source_file WHERE path IN (SELECT file FROM place)",
             err);
}

// … and their texts. Files of older versions have none.
static bool copy_sources(sqlite3 *db, Error *err) {
  sqlite3_stmt *s = NULL;
  bool has = sqlite3_prepare_v2(
                 db,
                 "SELECT 1 FROM was.sqlite_master WHERE type = 'table' AND name = 'source_text'",
                 -1, &s, NULL) == SQLITE_OK &&
             sqlite3_step(s) == SQLITE_ROW;
  sqlite3_finalize(s);
  return !has || (sql(db,
                      "UPDATE source_file SET hash = (SELECT w.hash FROM was.source_file w WHERE "
                      "w.path = source_file.path), newer = (SELECT w.newer FROM was.source_file w "
                      "WHERE w.path = source_file.path)",
                      err) &&
                  sql(db,
                      "INSERT OR IGNORE INTO source_text SELECT path, bytes, data FROM "
                      "was.source_text WHERE path IN (SELECT file FROM place)",
                      err));
}

static bool complete(const Expand *x, Error *err) {
  Store *store = run_open(x->out, true, err);
  sqlite3_stmt *s = NULL;
  if (!store) return false;
  sqlite3 *db = store->db;
  bool ok = sqlite3_prepare_v2(db, "ATTACH ? AS was", -1, &s, NULL) == SQLITE_OK &&
            sqlite3_bind_text(s, 1, x->path, -1, SQLITE_STATIC) == SQLITE_OK &&
            sqlite3_step(s) == SQLITE_DONE;
  sqlite3_finalize(s);
  ok = (ok || error_set(err, "expand: %s.", store_message(db))) && read_map(x, db, err) &&
       sql(db, "BEGIN", err) && sql(db, complete_sql, err) && copy_proofs(db, err) &&
       copy_sources(db, err);
  char *more = sqlite3_mprintf(
      "INSERT OR REPLACE INTO meta VALUES ('expanded_from', %Q), ('expanded_launches', '%u..%u')",
      x->path, x->first, x->last);
  ok = ok && sql(db, more, err) && sql(db, "COMMIT", err);
  sqlite3_free(more);
  store_close(store);
  return ok;
}

static bool is_same_file(const char *a, const char *b) {
  struct stat x, y;
  return stat(a, &x) == 0 && stat(b, &y) == 0 && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

int cli_expand(const CliArguments *a) {
  Expand x = {0};
  Error err = {{0}};
  if (!read_arguments(a, &x, &err)) return cli_misuse(a->subcommand, "%s", err.text);
  if (!look(&x, &err)) return cli_fail("%s", err.text);
  choose_name(&x);
  if (is_same_file(x.path, x.out))
    return cli_fail("expand: -o %s is the run file that is expanded: give another name.", x.out);
  unlink(x.map.data);
  int code = run(&x);
  bool ok = access(x.map.data, R_OK) == 0 && complete(&x, &err);
  unlink(x.map.data);
  if (!ok && err.text[0]) return cli_fail("%s", err.text);
  if (code == 0 || code == 99) printf("%s\n", x.out);
  str_free(&x.out_name);
  str_free(&x.map);
  return code;
}
