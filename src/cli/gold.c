// warpgrind gold ./app: compares a GPU with the virtual device. The program runs on both, first
// with hashes only. If these differ, the program runs again with the contents of written buffers.
// Names the first launch whose difference exceeds what its instructions allow. docs/diff.md.
#define _GNU_SOURCE
#include "cli/cli.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/json.h"
#include "diff/diff.h"

enum { SAME, DIFFERS, CANNOT };

typedef struct Gold {
  const char *devices[2];
  DiffGold rules;
  uint32_t elements;
  const char *keep, *json;
  char **run_options;  // for both runs
  uint32_t nrun_options;
  char **program;
  Str folder;
  Str text;  // the result, for people
  Str list;  // JSON: kernels that may differ
} Gold;

static int refuse(const Error *err) {
  return cli_fail_as("warpgrind gold", CANNOT, "%s", err->text);
}

// --- the command line ---

static bool read_devices(Gold *g, const char *v, Error *err) {
  static const char *const known[] = {"cpu", "gpu"};
  const char *comma = strchr(v, ',');
  for (int i = 0; i < 2; i++) {
    const char *start = i ? comma + 1 : v;
    size_t n = i || !comma ? strlen(start) : (size_t)(comma - v);
    for (size_t k = 0; comma && k < ARRAY_LEN(known); k++)
      if (strlen(known[k]) == n && !strncmp(known[k], start, n)) g->devices[i] = known[k];
    if (!comma) break;
  }
  return (comma && g->devices[0] && g->devices[1]) ||
         error_set(err, "--devices=%s: expected two of cpu and gpu, with a comma between them.", v);
}

static bool read_tolerance(Gold *g, const char *v, Error *err) {
  g->rules.has_asked = v != NULL;
  return !v || diff_rules_tolerance(&g->rules.asked, v, err);
}

// Options of a run that gold sets itself.
static bool is_ours(const char *option) {
  static const char *const ours[] = {"--device=", "--output=", "--dump-buffers="};
  for (size_t i = 0; i < ARRAY_LEN(ours); i++)
    if (!strncmp(option, ours[i], strlen(ours[i]))) return true;
  return false;
}

static bool read_arguments(const CliArguments *a, Gold *g, Error *err) {
  const char *devices = cli_value(a, CLI_GOLD_DEVICES);
  if (devices) g->devices[0] = g->devices[1] = NULL;
  if (devices && !read_devices(g, devices, err)) return false;
  g->keep = cli_value(a, CLI_GOLD_KEEP);
  g->json = cli_value(a, CLI_GOLD_JSON);
  g->run_options = a->run_options.data;
  g->nrun_options = a->run_options.len;
  g->program = a->words.data;
  for (uint32_t i = 0; i < g->nrun_options; i++)
    if (is_ours(g->run_options[i]))
      return error_set(err, "%s is not for warpgrind gold: it chooses that itself.",
                       g->run_options[i]);
  return read_tolerance(g, cli_value(a, CLI_GOLD_TOLERANCE), err) &&
         cli_number(a, CLI_GOLD_ELEMENTS, 0, CLI_MOST_ELEMENTS, &g->elements, err);
}

// --- running the program ---

static void path_of(const Gold *g, int run, const char *what, Str *out) {
  out->len = 0;
  str_printf(out, "%s/%d-%s%s", g->folder.data, run + 1, g->devices[run], what);
}

// Only the last run shows what the program prints.
static bool run_once(const Gold *g, int run, bool dumps, bool quiet, Error *err) {
  Str file = {0}, dump = {0}, device = {0}, output = {0}, said = {0};
  path_of(g, run, dumps ? "-contents.wg" : ".wg", &file);
  path_of(g, run, "-buffers", &dump);
  path_of(g, run, ".out", &output);
  path_of(g, run, ".log", &said);
  Str option = {0}, log = {0};
  str_printf(&device, "--device=%s", g->devices[run]);
  str_printf(&option, "--dump-buffers=%s,written,binary", dump.data);
  str_printf(&log, "--log-file=%s", said.data);
  VEC(char *) args = {0};
  char *fixed[] = {"warpgrind", "-q", "--hash=every", "-o", file.data, device.data, log.data};
  for (size_t i = 0; i < ARRAY_LEN(fixed); i++) vec_push(&args, fixed[i]);
  if (dumps) vec_push(&args, option.data);
  for (uint32_t i = 0; i < g->nrun_options; i++) vec_push(&args, g->run_options[i]);
  vec_push(&args, "--");
  for (char **p = g->program; *p; p++) vec_push(&args, *p);
  vec_push(&args, NULL);
  lseek(0, 0, SEEK_SET);  // each run reads standard input from its start
  fflush(NULL);
  pid_t pid = fork();
  if (!pid) {
    int fd = quiet ? open(output.data, O_WRONLY | O_CREAT | O_TRUNC, 0666) : -1;
    if (fd >= 0) dup2(fd, 1);
    execv("/proc/self/exe", args.data);
    _exit(EXIT_WARPGRIND);
  }
  int status = 0;
  while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR) continue;
  int code = pid < 0             ? EXIT_WARPGRIND
             : WIFEXITED(status) ? WEXITSTATUS(status)
                                 : 128 + WTERMSIG(status);
  bool ok = access(file.data, R_OK) == 0;
  if (!ok) {
    Str words = {0};
    Error ignored;
    if (!file_read(said.data, &words, &ignored)) words.len = 0;
    error_set(err, "the program could not be run on %s (exit code %d)%s%s", g->devices[run], code,
              words.len ? ": " : ".", words.len ? words.data : "");
    str_free(&words);
  }
  vec_free(&args);
  Str *all[] = {&file, &dump, &device, &output, &said, &option, &log};
  for (size_t i = 0; i < ARRAY_LEN(all); i++) str_free(all[i]);
  return ok;
}

static bool load(const Gold *g, int run, bool dumps, DiffRun *out, Error *err) {
  Str file = {0};
  path_of(g, run, dumps ? "-contents.wg" : ".wg", &file);
  bool ok = diff_run_load(file.data, out, err);  // `out` points to the name: not freed
  return ok;
}

// --- judging ---

// Finds the first kernel whose results differ in a second run on the same device.
static void find_restless(const DiffRun *one, const DiffRun *two, const char *device, StrMap *out) {
  Diff d = {0};
  diff_match(&d, one, two);
  for (uint32_t i = 0; i < d.pairs.len; i++) {
    DiffPair p = d.pairs.data[i];
    DiffResult r;
    if (!p.a || !p.b) continue;
    diff_compare(&d, p, &r);
    if (r.different && p.a->kernel && !strmap_get(out, p.a->kernel))
      strmap_put(out, mem_strdup(p.a->kernel), (void *)device);
    diff_result_free(&r);
    if (out->len) break;  // later differences may follow from this one
  }
  diff_free(&d);
}

static void say_kernels(Gold *g, const DiffRun *run, const StrMap *restless) {
  StrMap said = {0};
  for (uint32_t i = 0; i < run->nsteps; i++) {
    const DiffStep *s = &run->steps[i];
    const char *device = s->kernel ? strmap_get(restless, s->kernel) : NULL;
    if (!s->kernel || (!s->numerics && !device) || strmap_get(&said, s->kernel)) continue;
    strmap_put(&said, s->kernel, (void *)s);
    if (s->numerics && s->numerics->order)
      str_printf(&g->text, "%s depends on the order of threads: %s\n", s->kernel,
                 s->numerics->order);
    if (device)
      str_printf(&g->text, "%s gave other results in a second run on %s\n", s->kernel, device);
    json_open(&g->list, NULL, '{');
    json_text(&g->list, "kernel", s->kernel);
    if (s->numerics) json_text(&g->list, "approximate", s->numerics->approximate);
    if (s->numerics) json_text(&g->list, "order_dependent", s->numerics->order);
    json_text(&g->list, "differs_in_a_second_run_on", device);
    str_addc(&g->list, '}');
  }
  strmap_free(&said);
}

static void add_summary(Gold *g, const Diff *d, uint64_t launches, uint64_t inexact) {
  str_printf(&g->text, "%llu launches compared", (unsigned long long)launches);
  if (inexact)
    str_printf(&g->text, ", %llu of them within their limits", (unsigned long long)inexact);
  if (d->not_compared)
    str_printf(&g->text, "; %llu buffers were not compared", (unsigned long long)d->not_compared);
  str_add(&g->text, "\n");
}

static int judge(Gold *g, const DiffRun *a, const DiffRun *b, bool contents, Str *json) {
  Diff d = {.most_shown = g->elements};
  DiffGold gold = g->rules;
  uint64_t launches = 0, inexact = 0;
  int code = SAME;
  diff_match(&d, a, b);
  for (uint32_t i = 0; i < d.pairs.len && code == SAME; i++) {
    DiffPair p = d.pairs.data[i];
    DiffResult r;
    Str why = {0};
    if (!p.a || !p.b) {
      str_printf(&g->text, "only on %s is there this launch: ", g->devices[p.a ? 0 : 1]);
      diff_step_name(p.a ? p.a : p.b, &g->text);
      str_add(&g->text, "\n");
      code = DIFFERS;
      break;
    }
    diff_gold_rules(&gold, a, p.a, &d.rules, &why);
    diff_compare(&d, p, &r);
    launches++;
    if (r.inexact && !r.different && !inexact++ && !gold.inherits) {
      gold.inherits = true;
      gold.since = p.a->launch;
    }
    if (r.different) {
      str_printf(&g->text, "the first launch whose results on %s differ from those on %s is ",
                 g->devices[1], g->devices[0]);
      diff_result_text(&d, &r, &g->text);
      if (why.len) str_printf(&g->text, "    %s\n", why.data);
      else
        str_add(&g->text, "    its results must be the same bit by bit: nothing in it rounds "
                          "differently, and it read the same values\n");
      if (!contents)
        str_add(&g->text, "    which elements differ is not known: their contents were not kept\n");
      json_key(json, "first");
      diff_result_json(&r, json);
      json_text(json, "limits", why.len ? why.data : NULL);
      code = DIFFERS;
    }
    diff_result_free(&r);
    str_free(&why);
  }
  if (code == SAME && d.buffers == d.not_compared) code = CANNOT;
  if (code == SAME && !inexact)
    str_printf(&g->text, "%s and %s computed the same, bit by bit\n", g->devices[0], g->devices[1]);
  if (code == SAME && inexact)
    str_printf(&g->text,
               "%s and %s computed the same, within the limits of approximate instructions and of "
               "the order of threads\n",
               g->devices[0], g->devices[1]);
  add_summary(g, &d, launches, inexact);
  json_number(json, "launches", launches);
  json_number(json, "launches_within_limits", inexact);
  diff_free(&d);
  return code;
}

static bool hashes_differ(const DiffRun *a, const DiffRun *b) {
  Diff d = {0};
  bool differ = false;
  diff_match(&d, a, b);
  for (uint32_t i = 0; i < d.pairs.len && !differ; i++) {
    DiffPair p = d.pairs.data[i];
    DiffResult r;
    if (!p.a || !p.b) continue;
    diff_compare(&d, p, &r);
    differ = r.different;
    diff_result_free(&r);
  }
  diff_free(&d);
  return differ;
}

static uint64_t bytes_of(const DiffRun *r) {
  uint64_t n = 0;
  for (uint32_t i = 0; i < r->nsteps; i++)
    for (uint32_t k = 0; k < r->steps[i].nbuffers; k++) n += r->steps[i].buffers[k].bytes;
  return n;
}

static int compare(Gold *g, Str *json) {
  const uint64_t most = 16ull << 30;
  Error err = {{0}};
  DiffRun first[2] = {{.nsteps = 0}}, second[2] = {{.nsteps = 0}};
  for (int i = 0; i < 2; i++)
    if (!run_once(g, i, false, i == 0, &err) || !load(g, i, false, &first[i], &err))
      return refuse(&err);
  bool differ = hashes_differ(&first[0], &first[1]), contents = differ;
  if (differ && bytes_of(&first[0]) > most) {
    str_printf(&g->text,
               "launches wrote %.1f GB in all, too much to keep: results that differ by rounding "
               "cannot be told from wrong ones (--kernel chooses kernels)\n",
               (double)bytes_of(&first[0]) / 1e9);
    contents = false;
  }
  StrMap restless = {0};
  for (int i = 0; i < 2 && contents; i++) {
    contents = run_once(g, i, true, true, &err) && load(g, i, true, &second[i], &err);
    if (!contents) str_printf(&g->text, "a second run, for contents, failed: %s\n", err.text);
    else find_restless(&first[i], &second[i], g->devices[i], &restless);
  }
  DiffRun *runs = contents ? second : first;
  say_kernels(g, &runs[0], &restless);
  int code = judge(g, &runs[0], &runs[1], contents, json);
  if (code == CANNOT) cli_fail_as("warpgrind gold", CANNOT, "no buffer could be compared.");
  return code;  // the command ends: runs are not freed
}

static bool make_folder(Gold *g, Error *err) {
  if (g->keep) {
    str_add(&g->folder, g->keep);
    return (mkdir(g->keep, 0777) == 0 || errno == EEXIST) ||
           error_set(err, "--keep: the folder %s cannot be made: %s.", g->keep, strerror(errno));
  }
  const char *parent = getenv("TMPDIR");
  str_printf(&g->folder, "%s/warpgrind-gold-XXXXXX", parent && *parent ? parent : P_tmpdir);
  return mkdtemp(g->folder.data) ||
         error_set(err, "no folder for what the runs keep can be made: %s: %s.", g->folder.data,
                   strerror(errno));
}

static void remove_folder(const char *path) {
  pid_t pid = fork();
  if (!pid) {
    execlp("rm", "rm", "-rf", "--", path, (char *)NULL);
    _exit(1);
  }
  while (pid > 0 && waitpid(pid, NULL, 0) < 0 && errno == EINTR) continue;
}

int cli_gold(const CliArguments *a) {
  Gold g = {.devices = {"cpu", "gpu"}, .elements = 10};
  Error err = {{0}};
  Str json = {0};
  if (!read_arguments(a, &g, &err) || !make_folder(&g, &err)) return refuse(&err);
  str_add(&json, "{\"version\":1");
  json_text(&json, "gold", g.devices[0]);
  json_text(&json, "device", g.devices[1]);
  str_add(&g.list, "[");
  int code = compare(&g, &json);
  str_printf(&json, ",\"kernels\":%s]", g.list.data);
  json_number(&json, "exit_code", (uint64_t)code);
  str_add(&json, "}\n");
  bool json_out = g.json && !strcmp(g.json, "-");
  if (g.text.len) fputs(g.text.data, json_out ? stderr : stdout);
  if (json_out) fputs(json.data, stdout);
  else if (g.json && (!cli_may_overwrite(g.json, NULL, &err) ||
                      !file_write(g.json, json.data, json.len, &err)))
    code = cli_fail_as("warpgrind gold", EXIT_WARPGRIND, "%s.", err.text);
  if (g.keep) fprintf(json_out ? stderr : stdout, "the runs are in %s\n", g.folder.data);
  else remove_folder(g.folder.data);
  return code;
}
