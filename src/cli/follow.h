// What the command does while the program runs: reads what its processes report, keeps it, prints
// findings at once.
#ifndef WG_CLI_FOLLOW_H
#define WG_CLI_FOLLOW_H

#include "cli/cli.h"
#include "run/run.h"

typedef struct CliFollow CliFollow;
CliFollow *cli_follow_create(const Options *o, Error *err);  // before the program is started
bool cli_follow_start(CliFollow *f, Error *err);             // after
Run *cli_follow_run(CliFollow *f);                           // not while it follows
void cli_follow_end(CliFollow *f);  // the program has ended: everything that arrived is in the run
// after the end: the program is going to be started once more
bool cli_follow_again(CliFollow *f, Error *err);
void cli_follow_free(CliFollow *f);

#endif
