// Registers, shared memory and spills of kernels.
#ifndef WG_PROFILE_REPORT_RESOURCES_H
#define WG_PROFILE_REPORT_RESOURCES_H

#include "run/run.h"

struct Options;

void resources_start(const struct Options *o);  // before the program is started
void resources_read(Run *run);                  // adds measures to the run; once
bool resources_are_live(void);                  // the run is being made by this command
void resources_end(void);

// --- report_spills.c ---
// Finds the lines that spill in a module's PTX, and adds them as measures. options: for ptxas
void spills_read(Run *run, const char *path, const char *options);

#endif
