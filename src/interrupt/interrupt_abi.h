// What the pass, the host and the gathering kernels share of a launch with interrupts.
#ifndef WG_INTERRUPT_ABI_H
#define WG_INTERRUPT_ABI_H

#include <stdint.h>

// The parameter that a kernel with interrupts has behind its own, by value. Threads are numbered
// through the grid, block by block, x first: 0 .. threads - 1. A context is stored by columns:
// bytes [at, at + size) of thread t are at contexts + at * threads + size * t.
typedef struct InterruptLaunch {
  uint64_t states;    // uint32_t[threads]: 0: it is not suspended; else the number of the stop + 1
  uint64_t contexts;  // context_bytes for each thread
  uint64_t ranks;     // uint32_t[threads]: place of the thread among the callers of its interrupt
  uint64_t control;   // InterruptControl
  uint64_t blocks;    // saved shared memory, saved_stride for each block
  uint64_t stopped;   // uint32_t[blocks]: the block has suspended threads
  uint64_t locals;    // local variables, for each thread
  uint64_t threads, saved_stride;
  uint64_t clusters;   // uint32_t[clusters]: one of its threads is suspended; 0: not needed
  uint64_t notify;     // host address that gets an InterruptNews; 0: none
  uint64_t workspace;  // of a cooperative launch: counts the blocks at its barriers; 0: it is none
  // Launches of one stream that follow each other before the host knows how the first has ended: a
  // launch that does not end writes its serial to its gate, and the next does not begin if it finds
  // that there. gate: with notify only. gate_before: a launch that follows nobody reads
  // InterruptControl.nobody
  uint64_t gate, gate_before;  // uint32_t
  uint32_t serial, serial_before;
} InterruptLaunch;

enum InterruptNews { NEWS_NONE, NEWS_SUSPENDED, NEWS_NOT_BEGUN };

// Then uint64_t results[ncalls]: where the results of the call's interrupt are.
typedef struct InterruptControl {
  uint32_t suspended;  // some thread is, since the kernel was last entered
  uint32_t overflow;   // a thread has filled its stack, and ended
  uint32_t nobody;     // always 0, which is no serial
  uint32_t unused;
} InterruptControl;

// --- gathering, on a GPU: gather_kernel.cu ---
// The states of a launch are looked at in chunks, one for each block of the kernels.
enum { GATHER_CHUNK = 1024, GATHER_PARAMS = 16 };
typedef struct GatherCall {  // as in InterruptCall and InterruptRun
  uint64_t numbers, lists[GATHER_PARAMS];
  uint32_t first_rank, args_at, nparams, bytes[GATHER_PARAMS], unused;
} GatherCall;
typedef struct GatherJob {
  uint64_t states, contexts, ranks;  // ranks: 0 if not wanted
  // uint32_t[ncalls][chunks]: callers; later their sum over all chunks before
  uint64_t counts;
  uint64_t totals;  // uint32_t[ncalls], in memory of the host
  uint64_t calls;   // GatherCall[ncalls]
  uint64_t stride;  // InterruptLaunch.threads
  uint32_t threads, ncalls, chunks, unused;
} GatherJob;

#endif
