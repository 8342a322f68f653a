// Reports and logs overwrite files, as with other tools, but never the program itself or a run
// file.
#include "cli/cli.h"

#include <sys/stat.h>

#include "run/run.h"

bool cli_may_overwrite(const char *path, const char *program, Error *err) {
  struct stat file, of_program;
  if (stat(path, &file) != 0) return true;
  if (program && stat(program, &of_program) == 0 && file.st_dev == of_program.st_dev &&
      file.st_ino == of_program.st_ino)
    return error_set(err, "%s is the program itself: it is not overwritten.", path);
  return !run_output_is_run_file(path) ||
         error_set(err,
                   "%s is a run file: it is not overwritten by a report or log. Remove it, or give "
                   "another name.",
                   path);
}
