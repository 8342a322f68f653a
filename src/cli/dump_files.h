#ifndef WG_CLI_DUMP_FILES_H
#define WG_CLI_DUMP_FILES_H

#include "base/options.h"
#include "run/run.h"

// --- dump_files.c: --dump-buffers: files get their names, and become text ---
bool cli_dump_check(Options *o, Error *err);                      // the folder is there, and empty
const char *cli_dump_file(Run *r, const RunDump *d, void *user);  // Run.on_dump
void cli_dump_end(Run *r);  // waits until all of them are written

#endif
