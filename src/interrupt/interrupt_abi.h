// The data of a launch with interrupts that the pass, the host and the gathering kernels share.
#ifndef WG_INTERRUPT_ABI_H
#define WG_INTERRUPT_ABI_H

#include <stdint.h>

// The parameter that a kernel with interrupts has after its own, by value. Threads are numbered
// through the grid, block by block, x first: 0 .. threads - 1.
//
// A thread that is suspended for the first time takes a place, which it keeps until the launch has
// ended. Places lie in groups of 32, whose values lie in columns: bytes [at, at + size) of place p
// are at places + p / 32 * 32 * place_bytes + 32 * at + p % 32 * size. A place has the words of
// InterruptPlace, then the thread's context.
//
// Marks say who has a place: a word for 32 threads of a block. When the first kernel has ended,
// threads with a place are ordered by their numbers: a thread is the n-th of them, where n is
// firsts[word of its mark] + lower bits of the mark, and PLACE_ORDER of place n is its own place.
typedef struct InterruptLaunch {
  uint64_t control;  // InterruptControl
  uint64_t marks;    // uint32_t[blocks][words of a block]
  uint64_t firsts;   // uint32_t[blocks][words of a block]: not defined where a mark is 0
  uint64_t places;
  // uint32_t[blocks]. stopped: has the block suspended threads? slots: where its shared memory is
  // saved
  uint64_t stopped, slots;
  uint64_t saved;   // shared memory, saved_stride for each block that has a slot
  uint64_t locals;  // local variables, for each thread
  uint64_t saved_stride;
  uint64_t clusters;   // uint32_t[clusters]: one of its threads is suspended; 0: not needed
  uint64_t notify;     // host address of an InterruptNews; 0: none
  uint64_t workspace;  // of a cooperative launch: counts the blocks at its barriers; 0: it is none
  // Launches of one stream that follow each other before the host knows how the first has ended: a
  // launch that does not end writes its serial to its gate, and the next does not begin if it finds
  // that there. gate: with notify only. gate_before: a launch that follows nobody reads
  // InterruptControl.nobody
  uint64_t gate, gate_before;  // uint32_t
  uint32_t serial, serial_before;
  // The second kernel is entered by the blocks of this list only, the n-th by block n; 0: by all
  uint64_t list;
  uint32_t grid[3];                  // of the program's launch
  uint32_t room_places, room_slots;  // how many there is memory for; for more: InterruptNews
  uint32_t unused;
} InterruptLaunch;

enum InterruptPlace { PLACE_THREAD = 0, PLACE_STATE = 4, PLACE_ORDER = 8, PLACE_CONTEXT = 12 };

// In memory of the host. A thread that finds no room writes how much it needs, and waits until
// there is room.
enum InterruptWhat { NEWS_NONE, NEWS_SUSPENDED, NEWS_NOT_BEGUN };
typedef struct InterruptNews {
  uint32_t what;
  uint32_t refused;                    // there will be no more room: threads that want some end
  uint32_t room_places, room_slots;    // as the host has made it
  uint32_t wants_places, wants_slots;  // a thread waits until there are so many
  uint32_t unused[2];
} InterruptNews;

// Several counters hand out places, and a warp uses one of them: all callers would wait for a
// single counter. Counter c gives the places of every PLACE_COUNTERS-th group, from the c-th on:
// its n-th one is PLACE_OF(c, n).
enum { PLACE_COUNTERS = 8, PLACE_COUNTER_HASH = 0x9e3779b1u, PLACE_COUNTER_SHIFT = 29 };
#define PLACE_OF(counter, n) ((((n) / 32 * PLACE_COUNTERS) + (counter)) * 32 + (n) % 32)

// Then uint64_t results[ncalls]: where the results of the call's interrupt are. The host writes
// suspended, overflow and results between two rounds.
typedef struct InterruptControl {
  uint32_t nobody;       // always 0, which is no serial
  uint32_t slots;        // that are taken
  uint32_t ordered;      // threads with a place that are in order
  uint32_t blocks_done;  // of a gathering kernel
  // The host's part of InterruptNews as it was last read. One thread at a time reads it, since host
  // memory is far
  uint32_t asking, refused, room_places, room_slots;
  uint32_t unused[24];
  struct {
    uint32_t taken, unused[31];
  } places[PLACE_COUNTERS];
  uint32_t suspended;  // some thread is, since the kernel was last entered
  uint32_t overflow;   // a thread has filled its stack, and ended
} InterruptControl;

// --- gathering, on a GPU: gather_kernel.cu ---
enum { GATHER_THREADS = 1024, GATHER_BLOCKS = 256, GATHER_PARAMS = 16 };
typedef struct GatherCall {  // as in InterruptCall and InterruptRun
  uint64_t numbers, lists[GATHER_PARAMS];
  uint32_t first_rank, args_at, nparams, bytes[GATHER_PARAMS], result_bytes;
} GatherCall;
typedef struct GatherJob {
  uint64_t control, marks, firsts, places, list;
  // uint32_t[2][GATHER_BLOCKS]: marked threads and blocks that each block of the kernels has seen
  uint64_t sums;
  // uint32_t[ncalls][GATHER_BLOCKS]: callers; later their sum over all blocks before
  uint64_t counts;
  // in memory of the host: uint32_t[ncalls], then the blocks in the list, and threads with a place
  uint64_t totals;
  uint64_t calls;  // GatherCall[ncalls]
  uint32_t words, block_words, block_threads, place_bytes, ncalls, unused;
} GatherJob;

#endif
