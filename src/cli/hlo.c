// Makes XLA (JAX) write its optimised programs to a folder of this run: they have the Python lines
// of each kernel (where/hlo.c). XLA makes the folder, and we remove it.
#define _GNU_SOURCE
#include "cli/cli.h"

#include <ftw.h>
#include <unistd.h>

#include "weave/weave.h"

static Str ours;  // the folder; empty: none, or one that the user has asked for

void cli_hlo_environment(const Options *o) {
  static const char given[] = "--xla_dump_to=";
  const char *flags = getenv("XLA_FLAGS"), *folder = flags ? strstr(flags, given) : NULL;
  unsigned tools = 0;
  Error err;
  Str text = {0};
  if (!tools_parse(options_text(o, OPT_TOOL), &tools, &err) || !tools) return;
  if (folder) {
    folder += sizeof given - 1;
    str_printf(&text, "%.*s", (int)strcspn(folder, " "), folder);
    setenv("WARPGRIND_XLA_DUMPS", text.data, 1);
  } else if (file_cache_folder(&ours) && !strchr(ours.data, ' ')) {
    str_printf(&ours, "/hlo/%d", (int)getpid());
    setenv("WARPGRIND_XLA_DUMPS", ours.data, 1);
    str_printf(&text, "%s%s%s%s --xla_dump_hlo_as_text", flags ? flags : "", flags ? " " : "",
               given, ours.data);
    setenv("XLA_FLAGS", text.data, 1);
  } else str_free(&ours);
  str_free(&text);
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *at) {
  return remove(path);
}

void cli_hlo_remove(void) {
  if (ours.len) nftw(ours.data, remove_one, 16, FTW_DEPTH | FTW_PHYS);
  str_free(&ours);
}
