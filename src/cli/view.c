// warpgrind view: a run file in the browser.
#include "cli/cli.h"

#include <sys/stat.h>
#include <unistd.h>

#include "view/view.h"

#define USAGE \
  "usage: warpgrind view [--port=N] [--no-browser] [--live] [--source=FOLDER] [--static FOLDER] " \
  "FILE"

typedef struct View {
  const char *path, *folder;
  unsigned long port;
  bool no_browser, live;
  ViewSources sources;
} View;

static bool add_folder(ViewSources *s, const char *folder, Error *err) {
  struct stat st;
  char *real = realpath(folder, NULL);  // lives as long as the command
  if (!real || stat(real, &st) != 0 || !S_ISDIR(st.st_mode))
    return error_set(err, "view: --source=%s: there is no such folder.", folder);
  if (s->nfolders == VIEW_FOLDERS)
    return error_set(err, "view: --source can be given %d times.", VIEW_FOLDERS);
  s->folders[s->nfolders++] = real;
  return true;
}

static bool parse(int argc, char **argv, View *v, Error *err) {
  for (int i = 1; i < argc; i++) {
    const char *arg = argv[i];
    char *end = NULL;
    if (strcmp(arg, "--no-browser") == 0) v->no_browser = true;
    else if (strcmp(arg, "--live") == 0) v->live = true;
    else if (strncmp(arg, "--source=", 9) == 0 && arg[9]) {
      if (!add_folder(&v->sources, arg + 9, err)) return false;
    } else if (strncmp(arg, "--port=", 7) == 0) {
      v->port = strtoul(arg + 7, &end, 10);
      if (!arg[7] || *end || v->port == 0 || v->port > 65535)
        return error_set(err, "view: --port=%s: a port is a number from 1 to 65535.", arg + 7);
    } else if (strncmp(arg, "--static=", 9) == 0 && arg[9]) v->folder = arg + 9;
    else if (strcmp(arg, "--static") == 0 && i + 1 < argc) v->folder = argv[++i];
    else if (arg[0] == '-' && arg[1]) return error_set(err, "view: unknown option %s. " USAGE, arg);
    else if (v->path) return error_set(err, "view: one run file at a time.");
    else v->path = arg;
  }
  return v->path || error_set(err, "view: no run file was given. " USAGE);
}

static void say_embedded(const char *source, const char *why) {
  if (why) fprintf(stderr, "warpgrind: not in the page: %s: %s.\n", source, why);
  else printf("embedded %s\n", source);
}

static bool ready(const char *url, void *view) {
  printf("%s\n", url);
  if (cli_output_lost()) return false;
  if (isatty(STDOUT_FILENO)) fprintf(stderr, "warpgrind: Ctrl-C ends it.\n");
  bool has_screen = getenv("DISPLAY") || getenv("WAYLAND_DISPLAY");
  if (!((View *)view)->no_browser && has_screen) cli_browser_open(url);
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
  ViewOptions o = {.live = v.live,
                   .path = v.path,
                   .sources = v.sources,
                   .port = (uint16_t)v.port,
                   .ready = ready,
                   .user = &v};
  if (v.folder) return view_write(&o, v.folder, say_embedded, &err) ? 0 : cli_fail("%s", err.text);
  if (v.live && !wait_for_file(v.path, &err)) return cli_fail("%s", err.text);
  int code = view_serve(&o, &err) ? 0 : cli_fail("%s", err.text);
  cli_browser_forget();
  _exit(cli_output_end(code));  // threads of the server may still be there
}
