// Device memory of synccheck and the watchdog: WgLaunch.progress is the device address of a
// WgWatch. There is one for each context, zero when it is new; nothing is cleared between launches,
// since everything contains the launch it belongs to.
#ifndef WG_WATCH_ABI_H
#define WG_WATCH_ABI_H

#include <stdint.h>

enum {
  WG_WATCH_WARPS = 1 << 14,
  WG_WATCH_BLOCKS = 1 << 12,
  WG_WATCH_LOOPS = 1 << 11,
  WG_WATCH_MBARRIERS = 12,
  WG_WATCH_CALLS = 4
};

// A resident warp. Its place in the table is that of the hardware, %smid and %warpid, so that no
// two warps that run at the same time share one. A warp that finds another's key here (it was
// moved) neither writes nor reads.
typedef struct WgWatchWarp {
  uint64_t key;   // launch << 32 | number of the warp in its grid; 0: none
  uint32_t gone;  // lanes that left before the barriers of the block
  uint32_t dead;  // … and will execute nothing of the warp either
  // Lanes that wait for others of the warp: at which site, for which lanes, by which instruction.
  // lanes 0: none. The last lane to arrive writes this, for the watchdog
  uint32_t wait_site, wait_lanes, wait_mask, wait_what;
  uint32_t barrier_site;  // watchdog: the site it waits at; 0: none, else plus 1
  uint32_t loop_site;     // the loop it runs in, plus 1; 0: none
  uint32_t loop_flags;    // WG_WATCH_…
  uint64_t loop_turns;
  uint32_t loop_state;  // of values that decide about the loop: no progress while unchanged
  uint32_t loop_lanes;
  uint64_t loop_address;  // the address that it reads again and again; 0: not known
} WgWatchWarp;            // 72 bytes
// the loop's step is 0; nothing that could end it changes; it waits for memory; for shared memory
enum { WG_WATCH_NO_STEP = 1, WG_WATCH_FIXED = 2, WG_WATCH_WAITS = 4, WG_WATCH_SHARED = 8 };

// A lane of a warp that waits for other lanes, or is about to: every lane writes its own entry, and
// then reads the others'. waits 0: it does not wait. what: the instruction
typedef struct WgWatchLane {
  uint32_t waits, mask, what, site;
} WgWatchLane;
enum { WG_WATCH_BLOCK = 1 };  // … a barrier of the block

// A block some of whose threads have ended, or that has mbarriers. Found by hashing; if another
// block has the place, nothing is kept.
typedef struct WgWatchBlock {
  uint64_t key;        // launch << 32 | number of the block
  uint32_t left;       // threads that have ended
  uint32_t mbarriers;  // how many are in use
  // barriers that a thread has executed: count << 32 | site or thread; the largest. least: the
  // complement of the smallest
  uint64_t most, least;
  uint64_t mbarrier[WG_WATCH_MBARRIERS];  // address << 32 | count; 0: free
  // The last calls of functions that all threads call: number << 48 | a hash of the arguments
  uint64_t calls[WG_WATCH_CALLS];
} WgWatchBlock;

// A loop that the threads of a block share. visits: how often each thread came, and << 16 how often
// its right neighbour should have come; most, least (0xffff minus the smallest) and expected: over
// all threads.
typedef struct WgWatchLoop {
  uint64_t key;  // launch << 32 | site + 1
  uint64_t most, least, expected;
  uint32_t left, block;
  uint32_t visits[1024];
} WgWatchLoop;

typedef struct WgWatch {
  uint32_t stop;  // written by the host: a launch whose threads must leave their loops and end
  // there was no room for an mbarrier: from now on none is reported as uninitialised
  uint32_t mbarriers_lost;
  uint32_t stopped;  // a thread has stopped
  uint8_t pad[116];
  WgWatchWarp warps[WG_WATCH_WARPS];
  WgWatchBlock blocks[WG_WATCH_BLOCKS];
  WgWatchLoop loops[WG_WATCH_LOOPS];
  WgWatchLane lanes[WG_WATCH_WARPS][32];
} WgWatch;

// The subject of a synccheck finding: WgFinding.size. value and extra depend on it.
enum {
  // a barrier of the block; value: lanes that are here | lanes elsewhere << 32
  WG_SYNC_DIVERGED = 1,
  // … that whole warps never executed; value: barriers executed here | there << 32; extra: the
  // thread there
  WG_SYNC_SKIPPED,
  // a loop shared by the block; value: how often the first missing thread came | its number << 32;
  // extra: number of threads that came most often | how often << 32
  WG_SYNC_MISSING,
  WG_SYNC_NOT_NAMED,  // a lane is not in its own mask; value: mask | lanes << 32
  // named lanes execute something else; value: mask | lanes << 32; extra: the other site
  WG_SYNC_ELSEWHERE,
  // named lanes ended without coming; value: mask | lanes that never came << 32
  WG_SYNC_NEVER_CAME,
  // a shuffle reads from a lane that has ended or never existed; value: mask | the lane << 32
  WG_SYNC_DEAD_LANE,
  // a thread count that no barrier can have; value: the count; extra: threads of the block
  WG_SYNC_COUNT,
  WG_SYNC_UNINITIALISED,  // mbarrier
  WG_SYNC_TWICE,          // mbarrier initialised again; value: its count before
  // a count of 0, too many, or more arrivals than it was initialised for; value: the count; extra:
  // what it was initialised with
  WG_SYNC_ARRIVALS,
  // a wait on an mbarrier for a phase that was over when this thread arrived; value: the parity it
  // waits for
  WG_SYNC_PHASE,
  WG_SYNC_GRID,  // a barrier of the grid in a launch that is not cooperative
  // a barrier of the cluster; value: 1: it arrives again, and has not waited; 0: it waits, and has
  // not arrived
  WG_SYNC_CLUSTER,
  WG_SYNC_ARGUMENTS,   // a function that all threads call with the same arguments
  WG_SYNC_NO_EVENT,    // a wait for an event that no copy has returned
  WG_SYNC_NOT_WAITED,  // the thread ends and has not waited for a copy of the block
};
enum { WG_LAUNCH_COOPERATIVE = 1 << 10 };  // WgLaunch.flags

#endif
