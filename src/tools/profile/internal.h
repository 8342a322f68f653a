// profile's table: written by weave*.c, read by host.c.
#ifndef WG_PROFILE_INTERNAL_H
#define WG_PROFILE_INTERNAL_H

#include "tools/profile/abi.h"
#include "weave/execution_counts.h"

typedef enum {
  SITE_GLOBAL,
  SITE_SHARED,
  SITE_CONSTANT,
  SITE_BRANCH,
  SITE_WORK,
  SITE_UNIFORM,
  SITE_OCCUPANCY
} SiteSpace;
typedef enum { SITE_LOAD, SITE_STORE, SITE_ATOMIC } SiteWhat;
// How much the code determines without running. KNOWN: the requests of full warps; the others are
// measured. SAME: every request of the site. WIDE: lanes are a fixed distance apart, which the
// launch decides.
typedef enum { SITE_LOOKED_AT, SITE_KNOWN, SITE_SAME, SITE_WIDE } SiteMode;
// The base that the device's counters of sectors and lines are added to.
typedef enum {
  FROM_REQUESTS,  // the number of an aligned request of a full warp, for each request
  FROM_THREADS,   // one for each thread
  FROM_NOTHING
} SiteFrom;

// A block that lanes execute divergently after a branch: its counters, its instructions.
typedef struct RegionBlock {
  uint32_t counters, instructions;
} RegionBlock;

typedef struct ProfileSite {
  const char *kernel, *text;  // text: the instruction
  CountPlace place;
  uint32_t ptx_line;
  SiteSpace space;
  SiteWhat what;
  SiteMode mode;
  uint32_t bytes;  // of one thread's access
  uint32_t slot;   // its first counter
  uint32_t block;  // counters of its block; COUNT_NONE: the device counts requests itself
  bool is_whole;   // it runs as often as its block
  int32_t stride;  // KNOWN: bytes from lane to lane
  // KNOWN, SAME: sectors of an aligned request, and its lines or phases (abi.h)
  uint32_t units, lines;
  SiteFrom from[2];  // of sectors, of lines
  uint32_t vector;   // this many consecutive accesses, from this one on, could be one; 0: none
  uint32_t outside;  // if fixed in the loop: counters of the block before the loop
  const RegionBlock *region;  // branches: the blocks before the reconvergence point
  uint32_t nregion;
} ProfileSite;

typedef struct ProfileTable {
  ProfileSite *sites;
  uint32_t nsites;
} ProfileTable;

// --- while weaving: one program, one function ---
typedef struct Profile {
  VEC(ProfileSite) sites;
} Profile;

// Bits of WeavePlan.tool_options. SAMPLES: a GPU does not measure every request
enum { ONLY_TIMELINE = 1, SAMPLES = 2, STAMPS = 4 };

// The values of a register in the lanes of a full warp. STEP: `stride` more from lane to lane, in
// tiles also `row` more from row to row; WIDE: a fixed step, which the launch decides
typedef enum { LANES_UNKNOWN, LANES_SAME, LANES_STEP, LANES_WIDE, LANES_ANY } LaneClass;
typedef struct LaneValue {
  LaneClass class;
  int64_t stride, row;
} LaneValue;
// How threads of a block become lanes: any way; rows of 32 or more; two rows of 16
typedef enum { SHAPE_ANY, SHAPE_ROWS, SHAPE_TILES } LaneShape;

// An access whose sectors the lanes count themselves: weave_lanes.c.
typedef struct LaneSite {
  uint32_t site, block;
  PtxOperand address;
  bool known[2];    // sectors, lines: one for each thread
  PtxReg *kept[2];  // in a loop: sectors and lines that this lane has begun
  PtxReg *bits;
} LaneSite;
typedef struct LanesHere LanesHere;

// The blocks of threads that a body of the kernel runs for.
typedef enum { RUNS_FOR_ALL, RUNS_FOR_ROWS, RUNS_FOR_OTHERS } BodyShape;

// Blocks that always run together share the decision whether their requests are measured.
typedef struct SampleGroup {
  PtxReg *look, *odds;
  uint32_t word;
  bool counted;  // some block of it counts requests
} SampleGroup;

typedef struct SiteCode SiteCode;
typedef struct Profiling {
  Profile *profile;
  Body *body;
  Counting *counting;
  IrDefs *defs;
  LaneValue *rows, *any, *tiles;       // by PtxReg.id, in blocks of that shape
  PtxReg *lane, *leads;                // number of the lane; lane 0 of a measured launch
  PtxReg *measured;                    // this launch is measured
  PtxReg *look, *odds;                 // weave_sample.c: measure the requests of this execution
  PtxReg *own_look, *own_odds;         // the same, of one block or access
  SampleGroup **groups;                // by the first block of a group; NULL: not made yet
  uint32_t sample_words, sample_left;  // 32-bit words that are reserved and not used yet
  PtxReg *no_rows, *no_rows_or_tiles;  // the block has another shape
  PtxReg **steps;                      // minus lane times a stride: see lane_steps
  int64_t *strides;
  uint32_t nsteps;
  uint32_t second;  // first instruction of the second body; UINT32_MAX: there is none
  SiteCode *codes;  // of the current block
  uint32_t ncodes;
  LanesHere *here;  // the same; NULL: not computed yet
  Code *here_at;    // code out of line that computes it itself; NULL: the beginning of the block
} Profiling;

// --- weave_classes.c ---
LaneValue *lane_values(const Profiling *w, LaneShape shape);

// --- weave_patterns.c: facts that the code determines ---
// What the site's mode requires of a request, besides a full warp: a shape of the block.
typedef enum { NEEDS_NOTHING, NEEDS_ROWS, NEEDS_ROWS_OR_TILES } SiteNeeds;
// Fills mode, stride, units and lines.
SiteNeeds pattern_find(const Profiling *w, const PtxOperand *address, ProfileSite *site);
// Finds accesses of a block that could be one, and sets `vector` of the first. instrs: of the sites
void pattern_vectors(const Profiling *w, uint32_t first_site, const uint32_t *instrs);
// If the address stays the same in the loop around it: counters of the block before the loop.
uint32_t pattern_outside(const Profiling *w, uint32_t block, const PtxOperand *address);

// --- weave_lanes.c ---
// Whether counting by lanes is the cheapest way for this site: its loop has registers to spare, or
// it needs no counter.
bool lanes_want(const Profiling *w, const LaneSite *k);
void lanes_at_access(Profiling *w, LaneSite *k, uint32_t i);
void lanes_at_end(Profiling *w, Code *c, const LaneSite *k);
// for a warp that is not full: counts the difference to a full, aligned one
void lanes_out_of_line(Profiling *w, Code *cold, LaneSite *k);

// --- weave_sample.c: which executions of an access are measured ---
bool sample_wanted(const Profiling *w);  // false: all of them
uint32_t sample_word(Profiling *w);      // a word of memory that accesses of one block share
void sample_decide(Profiling *w, Code *c, uint32_t word);  // sets Profiling.look
// The decision that the accesses at the end of a block share with those of other blocks.
SampleGroup *sample_group(Profiling *w, uint32_t block);
Code *block_end(Profiling *w, uint32_t block);  // weave_access.c: before its branch
// The argument of a probe: the bytes of an access, and what the request counts for.
PtxOperand sample_request(Profiling *w, Code *c, uint32_t bytes);
// After the probe: once there were enough requests, the following ones are sampled.
void sample_count(Profiling *w, Code *c, uint32_t word, uint32_t slot);

// --- weave_uniform.c ---
void weave_uniform(Profiling *w);

// --- weave_occupancy.c ---
void weave_occupancy(Body *b, Profile *profile);

// --- weave_access.c ---
void weave_access(Profiling *w, uint32_t block, uint32_t i);
void weave_block_end(Profiling *w, uint32_t block);

#endif
