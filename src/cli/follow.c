#include "cli/dump_files.h"
#include "cli/follow.h"

#include "cli/run_tools.h"

#include "report/report.h"

#include <pthread.h>

enum { GRACE_MS = 1000, WAIT_MS = 100 };

struct CliFollow {
  const Options *options;
  ChannelReader *reader;
  Run run;
  pthread_t thread;
  bool started;
  uint64_t printed;
};

// --- on the thread that receives ---

static void print_finding(Run *r, const RunFinding *finding, void *user) {
  CliFollow *f = user;
  uint64_t limit = options_number(f->options, OPT_MAX_ERRORS);
  if (f->printed == limit)
    log_error("%llu findings have been printed; further ones are only counted (--max-errors)",
              (unsigned long long)limit);
  if (f->printed++ >= limit) return;
  Str text = {0};
  report_finding(r, finding, &text);
  cli_print_lines(&text, finding->process->pid, true);
  log_set_pid(r->main_pid);
  str_free(&text);
  if (!options_flag(f->options, OPT_GEN_SUPPRESSIONS)) return;
  report_suppression_entry(r, finding, &text);
  log_plain(text.data);
  str_free(&text);
}

static void print_note(Run *r, const RunNote *n, void *user) {
  if (n->severity == SEVERITY_ERROR) log_error("%s", n->text);
  else if (n->severity == SEVERITY_WARNING) log_line("%s", n->text);
  else log_verbose("%s", n->text);
}

static void choose(Run *r, uint32_t process, uint32_t sequence, const char *name, void *user) {
  CliFollow *f = user;
  channel_answer(f->reader, process, sequence, cli_tools_choose(f->options, name));
}

static void *receive(void *p) {
  CliFollow *f = p;
  ChannelSink sink;
  run_sink(&f->run, &sink);
  bool said = false;
  while (channel_receive(f->reader, &sink, WAIT_MS)) {
    const char *why;
    run_file_commit(&f->run, false);
    cli_tools_look(&f->run);
    if (f->run.file && !said && run_file_failed(f->run.file, &why)) {
      said = true;
      log_error("%s. The program goes on; the report does too.", why);
    }
  }
  return NULL;
}

// --- on the main thread ---

CliFollow *cli_follow_create(const Options *o, Error *err) {
  CliFollow *f = mem_alloc(sizeof *f);
  f->options = o;
  f->reader = channel_create(cli_tools_ring_bytes(o), err);
  if (!f->reader) {
    free(f);
    return NULL;
  }
  f->run.on_finding = print_finding;
  f->run.on_note = print_note;
  f->run.on_dump = cli_dump_file;
  f->run.on_choose = choose;
  f->run.user = f;
  return f;
}

bool cli_follow_start(CliFollow *f, Error *err) {
  if (!cli_tools_start(f->options, f->reader, &f->run, err) || !channel_start(f->reader, err))
    return false;
  int failed = thread_start(&f->thread, receive, f);
  f->started = !failed;
  return !failed || error_set(err, "cannot start a thread: %s", strerror(failed));
}

Run *cli_follow_run(CliFollow *f) { return &f->run; }

void cli_follow_end(CliFollow *f) {
  channel_stop(f->reader, GRACE_MS, &f->run.still_running);
  if (f->started) pthread_join(f->thread, NULL);
  cli_tools_look(&f->run);
  f->run.unrecorded += channel_unrecorded(f->reader);
  f->run.channel_damaged |= channel_was_damaged(f->reader);
}

bool cli_follow_again(CliFollow *f, Error *err) {
  ChannelReader *next = channel_create_after(f->reader, err);
  if (!next) return false;
  channel_destroy(f->reader);
  f->reader = next;
  return true;
}

void cli_follow_free(CliFollow *f) {
  channel_destroy(f->reader);
  run_free(&f->run);
  free(f);
}
