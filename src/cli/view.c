// warpgrind view: a run file in the browser.
#include "cli/cli.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "view/view.h"

typedef struct View { const char *path, *folder; unsigned long port; bool no_browser, live; } View;

static bool parse(int argc, char **argv, View *v, Error *err) {
  for (int i = 1; i < argc; i++) {
    const char *arg = argv[i];
    char *end = NULL;
    if (strcmp(arg, "--no-browser") == 0) v->no_browser = true;
    else if (strcmp(arg, "--live") == 0) v->live = true;
    else if (strncmp(arg, "--port=", 7) == 0) {
      v->port = strtoul(arg + 7, &end, 10);
      if (!arg[7] || *end || v->port == 0 || v->port > 65535) return error_set(err, "view: --port=%s: a port is a number from 1 to 65535.", arg + 7);
    } else if (strncmp(arg, "--static=", 9) == 0 && arg[9]) v->folder = arg + 9;
    else if (strcmp(arg, "--static") == 0 && i + 1 < argc) v->folder = argv[++i];
    else if (arg[0] == '-' && arg[1]) return error_set(err, "view: unknown option %s. usage: warpgrind view [--port=N] [--no-browser] [--live] [--static FOLDER] FILE", arg);
    else if (v->path) return error_set(err, "view: one run file at a time.");
    else v->path = arg;
  }
  return v->path || error_set(err, "view: no run file was given. usage: warpgrind view [--port=N] [--no-browser] [--live] [--static FOLDER] FILE");
}

// Twice forked: whoever shows the page is nobody's child, and may stay as long as it likes.
static void open_browser(const char *url) {
  pid_t child = fork();
  if (child == 0) {
    if (fork() == 0) {
      sigset_t none;
      sigemptyset(&none);
      sigprocmask(SIG_SETMASK, &none, NULL);
      int nowhere = open("/dev/null", O_RDWR);
      for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (dup2(nowhere, fd) < 0) _exit(1);
      execlp("xdg-open", "xdg-open", url, (char *)NULL);
    }
    _exit(0);
  }
  if (child > 0) waitpid(child, NULL, 0);
}

static bool ready(const char *url, void *view) {
  printf("%s\n", url);
  if (cli_output_lost()) return false;
  if (isatty(STDOUT_FILENO)) fprintf(stderr, "warpgrind: Ctrl-C ends it.\n");
  bool has_screen = getenv("DISPLAY") || getenv("WAYLAND_DISPLAY");
  if (!((View *)view)->no_browser && has_screen) open_browser(url);
  return true;
}

// Of a run that is just beginning. Its tables are made at once.
static bool wait_for_file(const char *path, Error *err) {
  enum { PATIENCE_MS = 60000 };
  for (int waited = 0; waited < PATIENCE_MS; waited += 50) {
    err->text[0] = 0;
    if (view_can_open(path, err)) return true;
    usleep(50000);
  }
  return false;
}

int cli_view(int argc, char **argv) {
  View v = {0};
  Error err = {{0}};
  if (!parse(argc, argv, &v, &err)) return cli_fail("%s", err.text);
  if (v.folder) return view_write(v.path, v.folder, &err) ? 0 : cli_fail("%s", err.text);
  if (v.live && !wait_for_file(v.path, &err)) return cli_fail("%s", err.text);
  ViewOptions o = {.live = v.live, .path = v.path, .port = (uint16_t)v.port, .ready = ready, .user = &v};
  return view_serve(&o, &err) ? 0 : cli_fail("%s", err.text);
}
