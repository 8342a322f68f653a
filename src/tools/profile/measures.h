// Measures (run/run.h) that the half inside the program sends to the half inside the command: their
// names, and the meaning of their numbers.
#ifndef WG_PROFILE_MEASURES_H
#define WG_PROFILE_MEASURES_H

#define MEASURE_ACCESS "access"        // a memory access of a kernel: its line, its opcode as text
#define MEASURE_BRANCH "branch"        // a branch whose condition may differ between lanes
#define MEASURE_WORK "work"            // instructions of warps, for a kernel with loops
#define MEASURE_RESOURCES "resources"  // registers … of a kernel; text: the source of these
#define MEASURE_CALL "call"            // a copy, a set or a wait of the host: its call as text
#define MEASURE_RANGE "range"          // work that the program names: the name as text
#define MEASURE_PEAKS "peaks"          // PeakId, as doubles; the device as text
#define MEASURE_STALLS "stalls"        // samples of a kernel, its reason as text
#define MEASURE_OCCUPANCY "occupancy"  // achieved: OCCUPANCY_… of a kernel
#define MEASURE_UNIFORM "uniform"      // instructions of warps with one result for all lanes
#define MEASURE_BUFFERS "buffers"      // bytes that a launch's parameters point into, at most
#define MEASURE_SPILL "spill"          // bytes that a line spills and loads back
#define MEASURE_TIMES "times"          // text: who measured the times of the device

enum {
  ACCESS_REQUESTS,  // of warps
  ACCESS_THREADS,
  ACCESS_UNITS,  // sectors, wavefronts or different words: abi.h
  ACCESS_LINES,  // lines, different addresses or phases
  ACCESS_SAME,   // requests by pattern
  ACCESS_UNIT,
  ACCESS_STRIDE,
  ACCESS_OFF,
  ACCESS_LEAST,  // distance from lane to lane, bytes; atomics: addresses
  ACCESS_MOST,
  ACCESS_OFFSETS,
  ACCESS_BYTES,
  ACCESS_SPACE,  // SiteSpace
  ACCESS_WHAT,   // SiteWhat
  ACCESS_VECTOR,
  ACCESS_AGAIN,  // requests with the same address as in the loop iteration before
  ACCESS_PTX_LINE,
  ACCESS_LOOKED  // requests measured, or determined by the code; 0: all. The rest is estimated
};
enum { BRANCH_WARPS, BRANCH_PARTED, BRANCH_IDLE };  // IDLE: warp instructions lost to idle lanes

enum {
  OCCUPANCY_ACTIVE,  // cycles in which multiprocessors had threads of the kernel
  OCCUPANCY_CYCLES,  // of its threads
  OCCUPANCY_COUNT
};
enum {
  RESOURCES_REGISTERS,  // of a thread
  RESOURCES_SHARED,     // static, bytes
  RESOURCES_STACK,
  RESOURCES_SPILL_STORES,
  RESOURCES_SPILL_LOADS,
  RESOURCES_ARCH,  // 90
  RESOURCES_COUNT
};
// Times are nanoseconds of the host's clock; 0: not known.
enum {
  CALL_NUMBER,  // in the order of the process
  CALL_KIND,
  CALL_BYTES,
  CALL_STREAM,
  CALL_DEVICE,
  CALL_BEGIN,  // of the call on the host, and its end
  CALL_END,
  CALL_HOST_MEMORY,
  CALL_CLUSTER = CALL_HOST_MEMORY,  // a launch: blocks of a cluster
  CALL_ASYNC,
  CALL_STARTED,  // on the device
  CALL_ENDED,
  CALL_THREADS,  // of a block
  CALL_BLOCKS,
  CALL_SHARED,        // dynamic, bytes
  CALL_PLAIN,         // the program ran without our code
  CALL_NON_BLOCKING,  // the stream does not wait for the default stream
  CALL_ALL,           // a wait for everything
  CALL_HOST_THREAD,
  CALL_QUEUED,     // a launch: the time it was put into the driver's buffer
  CALL_SUBMITTED,  // … and given to the device
};
enum {
  RANGE_BEGIN,
  RANGE_END,
  RANGE_HOST_THREAD,  // 0: calls of all threads belong to it
  RANGE_DEPTH,        // number of ranges of the thread that enclose it
  RANGE_PLAIN,        // as CALL_PLAIN
  RANGE_COUNT
};
// CALL_KIND; CALL_HOST_MEMORY
// NODE: a kernel of a graph, when it is captured (no times), and when CUPTI says that it ran
enum {
  CALL_TO_DEVICE,
  CALL_TO_HOST,
  CALL_ON_DEVICE,
  CALL_SET,
  CALL_WAIT,
  CALL_LAUNCH,
  CALL_NODE,
  CALL_KINDS
};
enum { HOST_NONE, HOST_PAGEABLE, HOST_PINNED };

#endif
