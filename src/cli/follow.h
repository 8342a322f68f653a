// Receives the events of the program's processes while it runs, stores them in the run, and prints
// findings at once.
#ifndef WG_CLI_FOLLOW_H
#define WG_CLI_FOLLOW_H

#include "cli/cli.h"
#include "run/run.h"

typedef struct CliFollow CliFollow;
CliFollow *cli_follow_create(const Options *o, Error *err);  // before the program starts
bool cli_follow_start(CliFollow *f, Error *err);             // after
Run *cli_follow_run(CliFollow *f);                           // not while it follows
void cli_follow_end(CliFollow *f);  // after the program: the run holds everything that arrived
// after the end: prepares for a second start of the program
bool cli_follow_again(CliFollow *f, Error *err);
void cli_follow_free(CliFollow *f);

#endif
