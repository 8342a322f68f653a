// runstats: the statistics of a run, counted inside the program and read by the `warpgrind` command
// after the program has ended.
//
// The command creates one page of shared memory and passes its name in WARPGRIND_STATS; every
// process of the run that loads the library maps it. The page belongs to the command, so the
// numbers survive a program that is killed. Where there is no command (the library was preloaded by
// hand) a private page is used: callers need not care.
//
// Inside the program:
//   runstats_count_launch(first_time);  // at every launch; first_time: the kernel's first one
//   runstats_fail("sentence", …);  // Warpgrind could not do its work: the run exits with 125
#ifndef WG_RUNSTATS_H
#define WG_RUNSTATS_H

#include "base/base.h"

#include <stdatomic.h>

#define RUNSTATS_MAGIC 0x57475253u  // "WGRS"

typedef struct RunStats {
  uint32_t magic;
  _Atomic uint32_t processes;       // processes that loaded the library
  _Atomic uint32_t cuda_processes;  // of those, the ones that called CUDA
  _Atomic uint64_t launches;
  _Atomic uint64_t kernels;  // different kernels launched
  // calls of CUDA's mathematical libraries, and those that a tool looks at
  _Atomic uint64_t library_calls, checked_library_calls;
  // launches of machine code that repeated the accesses of a checked one, and were not patched
  _Atomic uint64_t repeated_launches;
  _Atomic uint32_t failed;  // 0, 1: being written, 2: `failure` holds the sentence
  char failure[2048];
} RunStats;

RunStats *runstats(void);  // never NULL
void runstats_count_launch(bool first_time);
void runstats_uncount_launch(void);  // for a captured launch: it was counted, but does not run
void runstats_count_library_call(bool checked);
void runstats_count_cuda_process(void);  // once for each process, at its first CUDA call
// the first sentence is kept; does not print, does not exit
void runstats_fail(const char *fmt, ...) PRINTF_LIKE(1, 2);
void runstats_log_failed(const char *path, int error);  // for log_on_failure

// runstats_fail was called, but the command's page cannot be reached
bool runstats_is_unheard(void);

// The command's side: makes the page and sets WARPGRIND_STATS in the environment.
RunStats *runstats_create(Error *err);
// Copies the whole page; damaged contents become a failure.
void runstats_read(const RunStats *shared, RunStats *copy);

#endif
