// profile's table: written by weave*.c, read by host.c.
#ifndef WG_PROFILE_INTERNAL_H
#define WG_PROFILE_INTERNAL_H

#include "tools/profile/abi.h"
#include "weave/execution_counts.h"

typedef enum { SITE_GLOBAL, SITE_SHARED, SITE_CONSTANT, SITE_BRANCH, SITE_WORK } SiteSpace;
typedef enum { SITE_LOAD, SITE_STORE, SITE_ATOMIC } SiteWhat;
// How much the code tells without running. KNOWN: a full warp's request; others are looked at when
// they run. SAME: every request of the site.
typedef enum { SITE_LOOKED_AT, SITE_KNOWN, SITE_SAME } SiteMode;

// A block that lanes run apart from each other behind a branch: its counters, its instructions.
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
  int32_t stride;  // KNOWN: bytes from lane to lane
  // KNOWN, SAME: what a request takes if it is aligned, and its lines or phases (abi.h)
  uint32_t units, lines;
  uint32_t vector;   // so many accesses in a row, this one first, could be one; 0: none
  uint32_t outside;  // its address stays the same in the loop: counters of the block before it
  const RegionBlock *region;  // branches: what comes before the place where all lanes meet again
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

// What the lanes of a full warp have in a register; stride: from lane to lane
typedef enum { LANES_UNKNOWN, LANES_SAME, LANES_STEP, LANES_ANY } LaneClass;
typedef struct LaneValue {
  LaneClass class;
  int64_t stride;
} LaneValue;

typedef struct Profiling {
  Profile *profile;
  Body *body;
  Counting *counting;
  IrDefs *defs;
  // by PtxReg.id: in blocks whose lanes are consecutive threads of a row, in blocks of any shape
  LaneValue *rows, *any;
  PtxReg *lane, *leads;  // number of the lane; lane 0, and this launch is measured
  PtxReg *odd_shape;     // rows does not hold
  PtxReg **partial;      // by block: some lanes are not here, or odd_shape; NULL: not made yet
} Profiling;

// --- weave_classes.c ---
LaneValue *lane_values(const Profiling *w, bool rows);

// --- weave_patterns.c: what the code tells ---
// Fills mode, stride, units and lines. needs_rows: only where w->rows holds
void pattern_find(const Profiling *w, const PtxOperand *address, ProfileSite *site,
                  bool *needs_rows);
// Accesses of a block that could be one: sets `vector` of the first. instrs: of the sites
void pattern_vectors(const Profiling *w, uint32_t first_site, const uint32_t *instrs);
// The address stays the same in the loop around it: counters of the block before the loop.
uint32_t pattern_outside(const Profiling *w, uint32_t block, const PtxOperand *address);

// --- weave_access.c ---
void weave_access(Profiling *w, uint32_t block, uint32_t i);

#endif
