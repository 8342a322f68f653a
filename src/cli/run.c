// Starts the program with our library preloaded, waits for it, prints the summary.
#define _GNU_SOURCE

#include "cli/cli.h"

#include "base/hash_option.h"
#include "cli/dump_files.h"
#include "cli/expand.h"
#include "cli/follow.h"
#include "cli/rerun.h"
#include "cli/run_tools.h"
#include "weave/weave.h"
#include "report/report.h"

#include <errno.h>
#include <fcntl.h>
#include <regex.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile sig_atomic_t child_pid;

static const int forwarded[] = {SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2};

// A signal from the terminal (Ctrl-C) goes to the whole process group: the program has it already.
// A signal sent to this process alone is forwarded to it. Either way the command stays and prints
// the report.
static void forward_signal(int sig, siginfo_t *info, void *context) {
  if (info->si_code <= 0 && info->si_pid != child_pid && child_pid > 0) kill(child_pid, sig);
}

// Writing to a full disk or a closed pipe must not end the command, nor the program with it.
static const int ignored[] = {SIGXFSZ, SIGPIPE};
static struct sigaction before_ignored[ARRAY_LEN(ignored)];

static void catch_signals(void) {
  for (size_t i = 0; i < ARRAY_LEN(ignored); i++)
    sigaction(ignored[i], &(struct sigaction){.sa_handler = SIG_IGN}, &before_ignored[i]);
  struct sigaction action = {.sa_sigaction = forward_signal, .sa_flags = SA_SIGINFO | SA_RESTART};
  for (size_t i = 0; i < ARRAY_LEN(forwarded); i++) {
    struct sigaction old;
    sigaction(forwarded[i], NULL, &old);
    if (old.sa_handler != SIG_IGN) sigaction(forwarded[i], &action, NULL);  // nohup keeps working
  }
}

static void prepend(const char *variable, const char *first, char separator, const char *saved_as) {
  const char *old = getenv(variable);
  setenv(saved_as, old ? old : "", 1);
  Str value = {0};
  str_add(&value, first);
  if (old && *old) str_printf(&value, "%c%s", separator, old);
  setenv(variable, value.data, 1);
  str_free(&value);
}

// LD_PRELOAD splits a path at spaces: for such a path it gets only the library's name, and
// LD_LIBRARY_PATH the folder. The CUDA runtimes of CPU mode are in a folder of their own, since on
// a GPU the program must find NVIDIA's; OpenCL's loader is in another, for --opencl=system.
static void set_library(const Options *o, const char *folder, bool on_gpu) {
  Str preload = {0}, search = {0};
#ifdef WARPGRIND_SANITIZER_RUNTIME
  str_add(&preload, WARPGRIND_SANITIZER_RUNTIME ":");
#endif
  if (strchr(folder, ' ')) str_add(&preload, "libcuda.so.1");
  else str_printf(&preload, "%s/libcuda.so.1", folder);
  prepend("LD_PRELOAD", preload.data, ':', "WARPGRIND_SAVED_LD_PRELOAD");
  if (options_is(o, OPT_OPENCL, "ours") || options_want_opencl_layer(o))
    str_printf(&search, "%s/opencl:", folder);
  if (!on_gpu) str_printf(&search, "%s/cpu:", folder);
  str_add(&search, folder);
  prepend("LD_LIBRARY_PATH", search.data, ':', "WARPGRIND_SAVED_LD_LIBRARY_PATH");
  str_free(&preload);
  str_free(&search);
}

// Programs may bring an OpenCL loader of their own, under another name or with an RPATH. Such a
// loader then opens only the platforms that the *.icd files of this folder name.
static void set_opencl(const Options *o, const char *folder) {
  Str layer = {0};
  str_printf(&layer, "%s/libwarpgrind_opencl_layer.so", folder);
  if (options_want_opencl_layer(o)) setenv("OPENCL_LAYERS", layer.data, 1);
  str_free(&layer);
  if (!options_is(o, OPT_OPENCL, "ours")) return;
  Str vendors = {0};
  str_printf(&vendors, "%s/opencl", folder);
  setenv("OCL_ICD_VENDORS", vendors.data, 1);
  setenv("OPENCL_VENDOR_PATH", vendors.data, 1);
  str_free(&vendors);
}

// The program may change its folder; names of files we write must not move with it.
static const char *absolute_name(const char *name) {
  char folder[4096];
  if (!name || name[0] == '/' || !getcwd(folder, sizeof folder)) return name;
  Str s = {0};
  for (const char *p = folder; *p; p++) {
    str_addc(&s, *p);
    if (*p == '%') str_addc(&s, '%');
  }
  str_printf(&s, "/%s", name);
  return s.data;  // lives as long as the options
}

// The program and the command both append to the log; a new run starts with an empty one. A name
// with %p is new anyway.
static bool start_log(const char *pattern, Error *err) {
  Str name = {0};
  bool ok = options_expand_name(pattern, 0, &name, err) &&
            (strstr(pattern, "%p") || file_write(name.data, "", 0, err));
  str_free(&name);
  return ok;
}

typedef struct Child {
  pid_t pid;
  int exec_errno;
} Child;

// Tells a program that could not be executed from one that exits with the same code.
static bool start(const char *path, char **argv, Child *c, Error *err) {
  int report[2];
  if (pipe2(report, O_CLOEXEC) != 0)
    return error_set(err, "cannot make a pipe: %s", strerror(errno));
  pid_t parent = getpid();
  pid_t pid = fork();
  if (pid < 0) {
    close(report[0]);
    close(report[1]);
    return error_set(err, "cannot start a process: %s", strerror(errno));
  }
  if (pid == 0) {
    for (size_t i = 0; i < ARRAY_LEN(forwarded); i++) {
      struct sigaction old;
      sigaction(forwarded[i], NULL, &old);
      if (old.sa_handler != SIG_IGN) signal(forwarded[i], SIG_DFL);
    }
    for (size_t i = 0; i < ARRAY_LEN(ignored); i++) sigaction(ignored[i], &before_ignored[i], NULL);
    prctl(PR_SET_PDEATHSIG, SIGKILL);  // if we are killed, the program ends too
    if (getppid() != parent) _exit(EXIT_WARPGRIND);
    execvp(path, argv);
    int why = errno;
    if (write(report[1], &why, sizeof why) < 0) _exit(EXIT_WARPGRIND);
    _exit(EXIT_NOT_EXECUTABLE);
  }
  child_pid = pid;
  close(report[1]);
  c->pid = pid;
  ssize_t n;
  while ((n = read(report[0], &c->exec_errno, sizeof c->exec_errno)) < 0 && errno == EINTR)
    continue;
  if (n <= 0) c->exec_errno = 0;
  close(report[0]);
  return true;
}

static int wait_for(pid_t pid) {
  int status;
  while (waitpid(pid, &status, 0) < 0)
    if (errno != EINTR) return EXIT_WARPGRIND << 8;
  return status;
}

// Exit code 127 before our library was loaded comes from the dynamic linker: a library of the
// program is missing, and the linker has named it.
static void note_missing_library(int status, const char *program, RunStats *stats) {
  if (stats->processes || !WIFEXITED(status)) return;
  if (WEXITSTATUS(status) == EXIT_NOT_FOUND) {
    cli_name_missing_libraries(program);
    return;
  }
  snprintf(stats->failure, sizeof stats->failure,
           "%s ran without Warpgrind's library. That happens with statically linked "
           "programs: link libc dynamically.",
           program);
  stats->failed = 2;
}

// A failure of Warpgrind wins over findings, and findings over the program's own exit code.
static int exit_code_of(int status, const Run *r, const Options *o) {
  if (r->failure) return EXIT_WARPGRIND;
  if (run_count_findings(r, SEVERITY_ERROR, NULL))
    return (int)options_number(o, OPT_ERROR_EXITCODE);
  return WIFSIGNALED(status) ? EXIT_SIGNAL + WTERMSIG(status) : WEXITSTATUS(status);
}

// Also replaces "all" by the names.
static bool check_tools(Options *o, Error *err) {
  const char *list = options_text(o, OPT_TOOL);
  unsigned tools;
  Str names = {0};
  bool ok = tools_parse(list, &tools, err);
  if (!ok) tools = UINT32_MAX;
  for (ToolId id = 0; id < TOOL_COUNT_; id++)
    if (tools >> id & 1) str_printf(&names, "%s%s", names.len ? "," : "", tool_name(id));
  if (ok) {
    o->text[OPT_TOOL] = names.len ? names.data : "none";  // lives as long as the options
    return true;
  }
  Error unknown = *err;
  return error_set(err, "%s The tools are: none,%s.", unknown.text, names.data);
}

// With hashes, dumps or recorded inputs, which must show the program itself, no tool runs by
// default.
static bool check_hash(Options *o, Error *err) {
  HashOption hash;
  if (!hash_option_parse(options_text(o, OPT_HASH), &hash, err)) return false;
  if (!hash.on && !options_given(o, OPT_DUMP_BUFFERS) && !cli_tools_replace_checks(o)) return true;
  if (!options_given(o, OPT_TOOL)) o->text[OPT_TOOL] = "none";
  return !hash.on || options_given(o, OPT_OUTPUT) ||
         error_set(err,
                   "--hash: hashes are kept in the run file, and none is written. Add -o FILE.");
}

static bool check_regex(const Options *o, OptionId id, Error *err) {
  const char *text = options_text(o, id);
  regex_t r;
  int code = text ? regcomp(&r, text, REG_EXTENDED | REG_NOSUB) : 0;
  if (!text) return true;
  if (code == 0) {
    regfree(&r);
    return true;
  }
  char why[256];
  regerror(code, &r, why, sizeof why);
  return error_set(err, "--%s=%s is not a regular expression: %s.", options_table[id].name, text,
                   why);
}

// A name with %p is known only when the program has been started.
static bool open_run_file(const Options *o, int pid, Run *r, Error *err) {
  const char *pattern = o->text[OPT_OUTPUT];
  if (!pattern || r->file || (!pid && strstr(pattern, "%p"))) return true;
  Str path = {0};
  bool ok = options_expand_name(pattern, pid, &path, err) &&
            (r->file = run_file_create(path.data, cli_tools_ring_bytes(o) > 0, err));
  str_free(&path);
  return ok;
}

static const char *describe_end(Run *r, int status) {
  if (WIFSIGNALED(status))
    return arena_printf(&r->arena, "ended by signal %d (%s)", WTERMSIG(status),
                        strsignal(WTERMSIG(status)));
  return arena_printf(&r->arena, "exit code %d", WEXITSTATUS(status));
}

// Completes the run after the program has ended and everything was received.
static void complete(Run *r, const Options *o, int status, const RunStats *stats) {
  r->end = describe_end(r, status);
  r->launches = stats->launches;
  r->different_kernels = stats->kernels;
  r->library_calls = stats->library_calls;
  r->checked_library_calls = stats->checked_library_calls;
  r->repeated_launches = stats->repeated_launches;
  if (stats->failed == 2) r->failure = run_text(r, stats->failure);
  if (!r->failure) r->failure = run_incomplete(r);
  uint64_t wanted = options_number(o, OPT_MIN_COVERAGE);
  if (!r->failure && report_covered_percent(r) < (double)wanted)
    r->failure = arena_printf(
        &r->arena, "%.1f%% of the launches were checked, and --min-coverage=%llu asks for more.",
        report_covered_percent(r), (unsigned long long)wanted);
  r->exit_code = exit_code_of(status, r, o);
  Str limits = {0};
  if (cli_tools_over_limits(r, o, &limits)) {
    run_add_note(r, NULL, SEVERITY_WARNING, "%.*s", (int)strcspn(limits.data, "\n"), limits.data);
    log_error("%.*s", (int)limits.len - 1, limits.data);
    if (!r->exit_code) r->exit_code = (int)options_number(o, OPT_ERROR_EXITCODE);
  }
  str_free(&limits);
}

// Writes the files that the options ask for. Returns the exit code.
static int write_files(Run *r, const Options *o) {
  Error err = {0};
  if (log_failure()) r->exit_code = EXIT_WARPGRIND;
  cli_tools_look(r);
  if (!run_file_finish(r, &err)) r->exit_code = cli_fail("%s", err.text);
  cli_tools_finished(r, o);
  for (unsigned i = 0; i < cli_nformats; i++) {
    const char *pattern = o->text[cli_formats[i].option];
    Str path = {0};
    if (pattern && (!options_expand_name(pattern, r->main_pid, &path, &err) ||
                    !cli_write_report(r, &cli_formats[i], path.data, &err)))
      r->exit_code = cli_fail("%s", err.text);
    str_free(&path);
  }
  return r->exit_code;
}

// Runs the program again into the same report; ignores its exit code.
static bool run_again(const char *path, char **argv, CliFollow *follow, CliRerun *a) {
  Error err = {0};
  Child child = {0};
  bool started = cli_follow_again(follow, &err) && start(path, argv, &child, &err);
  cli_rerun_started(a);
  if (!started) return false;
  cli_follow_start(follow, &err);
  wait_for(child.pid);
  cli_follow_end(follow);
  return !child.exec_errno;
}

static int run_program(const Options *o, const char *path, char **argv, RunStats *stats,
                       CliFollow *follow, Run *r) {
  Error err = {0};
  Child child = {0};
  CliRerun again;
  cli_rerun_remember(&again, o);
  if (!start(path, argv, &child, &err)) return cli_fail("%s", err.text);
  if (child.exec_errno) {
    wait_for(child.pid);
    cli_fail("%s: cannot be executed: %s", path, strerror(child.exec_errno));
    return EXIT_NOT_EXECUTABLE;
  }
  log_set_pid(child.pid);
  if (!options_open_log(o, child.pid, &err)) cli_fail("%s", err.text);
  cli_say_device();
  r->program = argv[0];
  r->replays = argv[1] && strcmp(argv[1], CLI_REPLAY) == 0;
  r->device = options_text(o, OPT_DEVICE);
  r->tools = options_text(o, OPT_TOOL);
  r->main_pid = child.pid;
  r->leaves_sources_out = options_flag(o, OPT_NO_SOURCES);
  bool keeps_file = open_run_file(o, child.pid, r, &err);
  if (!keeps_file) log_error("%s", err.text);
  run_file_begin(r);
  if (!cli_follow_start(follow, &err)) log_error("%s: what the program reports is lost", err.text);

  cli_progress_start(r, options_flag(o, OPT_QUIET));
  int status = wait_for(child.pid);
  cli_progress_end();
  cli_follow_end(follow);
  RunStats numbers;
  runstats_read(stats, &numbers);
  note_missing_library(status, path, &numbers);
  if (cli_rerun_begin(&again, r, &numbers)) {
    bool ran = run_again(path, argv, follow, &again);
    runstats_read(stats, &numbers);
    cli_rerun_end(&again, r, &numbers, ran);
  }
  cli_dump_end(r);
  complete(r, o, status, &numbers);
  if (!keeps_file && !r->failure) {
    r->failure = run_text(r, err.text);
    r->exit_code = EXIT_WARPGRIND;
  }
  cli_print_summary(r, options_flag(o, OPT_VERBOSE));
  Str name = {0};
  if (r->trace && r->file && !r->records_inputs &&
      options_expand_name(o->text[OPT_OUTPUT], child.pid, &name, &err))
    cli_name_viewer(name.data);
  str_free(&name);
  return write_files(r, o);
}

int cli_run(const Options *given, char **argv) {
  Options o = *given;
  Error err = {0};
  Str path = {0}, folder = {0}, name = {0};
  if (!check_hash(&o, &err) || !cli_dump_check(&o, &err) || !check_tools(&o, &err) ||
      !cli_tools_check(&o, &err) || !check_regex(&o, OPT_KERNEL, &err) ||
      !check_regex(&o, OPT_KERNEL_EXCLUDE, &err) || !cli_rerun_check(&o, &err))
    return cli_fail("%s", err.text);
  ReportSuppressions *suppressions = NULL;
  if (options_given(&o, OPT_SUPPRESSIONS) &&
      !(suppressions = report_suppressions_read(options_text(&o, OPT_SUPPRESSIONS), &err)))
    return cli_fail("%s", err.text);
  int code = cli_find_program(argv[0], &path, &err);
  if (!code && (!cli_choose_device(&o, &err) || !cli_find_library(&folder, &err)))
    code = EXIT_WARPGRIND;
  bool on_gpu = options_is(&o, OPT_DEVICE, "gpu");
  if (!code) code = cli_check_program(path.data, on_gpu, &err);
  RunStats *stats = code ? NULL : runstats_create(&err);
  CliFollow *follow = stats ? cli_follow_create(&o, &err) : NULL;
  if (!follow) {
    cli_fail("%s", err.text);
    return code ? code : EXIT_WARPGRIND;
  }
  static const OptionId files[] = {OPT_LOG_FILE,     OPT_JSON,        OPT_SARIF,
                                   OPT_JUNIT,        OPT_OUTPUT,      OPT_LAUNCH_LOG,
                                   OPT_OPENCL_CALLS, OPT_OPENCL_TIMES};
  for (size_t i = 0; i < ARRAY_LEN(files); i++) {
    o.text[files[i]] = absolute_name(o.text[files[i]]);
    name.len = 0;
    if (o.text[files[i]] && !options_expand_name(o.text[files[i]], 1, &name, &err))
      return cli_fail("%s", err.text);
    if (o.text[files[i]] && files[i] != OPT_OUTPUT &&
        !cli_may_overwrite(name.data, path.data, &err))
      return cli_fail("%s", err.text);
  }
  Run *r = cli_follow_run(follow);
  if (suppressions) report_suppressions_use(suppressions, r);
  cli_set_color(options_text(&o, OPT_COLOR), options_given(&o, OPT_LOG_FILE));
  catch_signals();
  if (o.text[OPT_LOG_FILE] && !start_log(o.text[OPT_LOG_FILE], &err))
    return cli_fail("%s", err.text);
  if (!open_run_file(&o, 0, r, &err)) return cli_fail("%s", err.text);
  set_library(&o, folder.data, on_gpu);
  set_opencl(&o, folder.data);
  options_to_environment(&o);
  cli_ptxas_environment();
  cli_allocators_environment(&o, folder.data);
  cli_hlo_environment(&o);
  catch_signals();
  log_verbose("library: %s/libcuda.so.1", folder.data);
  code = run_program(&o, path.data, argv, stats, follow, r);
  cli_tools_end(r);
  cli_hlo_remove();
  cli_follow_free(follow);
  if (suppressions) report_suppressions_free(suppressions);
  str_free(&path);
  str_free(&folder);
  str_free(&name);
  return code;
}
