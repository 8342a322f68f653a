// --record: from the rings of the channel to the run file.
#ifndef WG_CLI_RECORD_H
#define WG_CLI_RECORD_H

#include "cli/cli.h"
#include "run/run.h"

bool cli_record_check(Options *o, Error *err);     // the options agree; adds the tool to --tool
uint64_t cli_record_ring_bytes(const Options *o);  // 0: nothing is recorded
// before the channel is started
bool cli_record_start(const Options *o, ChannelReader *reader, Run *r, Error *err);
void cli_record_look(Run *r);  // polled; warns once if recording had to stop
// --buffer has this name; NULL: it has none
bool cli_record_is_chosen(const Options *o, const char *name);
// at the end: warns of names of --buffer that no allocation had
void cli_record_tell(const Run *r, const Options *o);
void cli_record_end(Run *r);

#endif
