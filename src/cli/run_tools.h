// The tools' part in the command while a program runs (tools/report.h): each function calls all
// tools.
#ifndef WG_CLI_RUN_TOOLS_H
#define WG_CLI_RUN_TOOLS_H

#include "cli/cli.h"
#include "run/run.h"

// Do the options ask for something other than a check? Then no tool runs unless --tool is given.
bool cli_tools_replace_checks(const Options *o);
bool cli_tools_check(Options *o, Error *err);     // do their options agree? May change others
uint64_t cli_tools_ring_bytes(const Options *o);  // size of rings that kernels write to; 0: none
// before the channel is started
bool cli_tools_start(const Options *o, ChannelReader *reader, Run *r, Error *err);
void cli_tools_look(Run *r);  // call now and then
// Does a tool want the buffer of this name? NULL: it has none
bool cli_tools_choose(const Options *o, const char *buffer);
void cli_tools_finished(const Run *r, const Options *o);  // the run file is complete
// Has the run passed a limit that the user set? Adds lines that say so.
bool cli_tools_over_limits(Run *r, const Options *o, Str *out);
void cli_tools_end(Run *r);

#endif
