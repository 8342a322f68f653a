// What tools do in the command while a program runs (tools/report.h): the functions of all of them.
#ifndef WG_CLI_RUN_TOOLS_H
#define WG_CLI_RUN_TOOLS_H

#include "cli/cli.h"
#include "run/run.h"

// Options ask for something else than a check: no tool runs unless --tool is given.
bool cli_tools_replace_checks(const Options *o);
bool cli_tools_check(Options *o, Error *err);     // their options agree; may change others
uint64_t cli_tools_ring_bytes(const Options *o);  // of rings that kernels write to; 0: none
// before the channel is started
bool cli_tools_start(const Options *o, ChannelReader *reader, Run *r, Error *err);
void cli_tools_look(Run *r);  // now and then
// a tool wants the buffer of this name; NULL: it has none
bool cli_tools_choose(const Options *o, const char *buffer);
void cli_tools_finished(const Run *r, const Options *o);  // the run file is complete
// a limit that the user set is passed: adds lines that say so
bool cli_tools_over_limits(Run *r, const Options *o, Str *out);
void cli_tools_end(Run *r);

#endif
