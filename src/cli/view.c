// warpgrind view: a run file in the browser.
#include "cli/cli.h"

#include <sys/stat.h>
#include <unistd.h>

#include "view/view.h"

typedef struct View {
  const char *path, *other, *folder;
  uint32_t port;
  bool no_browser, live;
  ViewSources sources;
} View;

static bool add_folder(ViewSources *s, const char *folder, Error *err) {
  struct stat st;
  char *real = realpath(folder, NULL);  // lives as long as the command
  if (!real || stat(real, &st) != 0 || !S_ISDIR(st.st_mode))
    return error_set(err, "--source=%s: there is no such folder.", folder);
  if (s->nfolders == VIEW_FOLDERS)
    return error_set(err, "--source can be given %d times.", VIEW_FOLDERS);
  s->folders[s->nfolders++] = real;
  return true;
}

static bool read_arguments(const CliArguments *a, View *v, Error *err) {
  v->path = a->words.data[0];
  v->folder = cli_value(a, CLI_VIEW_STATIC);
  v->other = cli_value(a, CLI_VIEW_COMPARE);
  v->no_browser = cli_value(a, CLI_VIEW_NO_BROWSER);
  v->live = cli_value(a, CLI_VIEW_LIVE);
  for (uint32_t i = 0; i < a->given.len; i++)
    if (a->given.data[i].id == CLI_VIEW_SOURCE &&
        !add_folder(&v->sources, a->given.data[i].value, err))
      return false;
  return cli_number(a, CLI_VIEW_PORT, 1, 65535, &v->port, err);
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

static int serve(View v) {
  Error err = {{0}};
  ViewOptions o = {.live = v.live,
                   .path = v.path,
                   .other = v.other,
                   .sources = v.sources,
                   .port = (uint16_t)v.port,
                   .ready = ready,
                   .user = &v};
  if (v.folder) return view_write(&o, v.folder, say_embedded, &err) ? 0 : cli_fail("%s", err.text);
  int code = view_serve(&o, &err) ? 0 : cli_fail("%s", err.text);
  cli_browser_forget();
  _exit(cli_output_end(code));  // threads of the server may still be there
}

int cli_view(const CliArguments *a) {
  View v = {0};
  Error err = {{0}};
  if (!read_arguments(a, &v, &err)) return cli_misuse(a->subcommand, "%s", err.text);
  return serve(v);
}

// warpgrind diff --view
int cli_view_two(const char *a, const char *b) {
  return serve((View){.path = a, .other = b, .no_browser = false});
}
