// What racecheck's pass leaves for its half inside the program.
#ifndef WG_RACECHECK_KERNEL_H
#define WG_RACECHECK_KERNEL_H

#include "weave/weave.h"

// WeaveFact.kind: base and size of the allocation, and its entries. Zeros: no thread writes there
// in this launch, or nothing is known
enum { FACT_RACE = FACT_OF_TOOL + TOOL_RACECHECK };
enum { RACE_FULL = 1 };  // of WeavePlan.tool_options: --race=full, two entries for each word

// An address as a term over the thread's coordinates, parameters and loop counters
// (weave_disjoint.c); the host evaluates it for a launch (host_disjoint.c). Operands come before
// their users.
typedef enum {
  RACE_ANYTHING,
  RACE_NUMBER,     // imm
  RACE_PARAMETER,  // `bytes` at b of parameter a; imm: where in the buffer of all
  RACE_COORDINATE,
  RACE_EXTENT,  // imm: %tid x y z, %ctaid x y z; %ntid, %nctaid
  RACE_ADD,
  RACE_SUBTRACT,
  RACE_MULTIPLY,
  RACE_AND,
  RACE_OR,
  RACE_SHIFT_RIGHT,
  RACE_LEAST,
  RACE_MOST,
  RACE_SIGN_EXTENDED,
  RACE_ZERO_EXTENDED,  // a, from 32 bits to 64
  RACE_MERGE,          // a or b
  // iterations of a loop, which continues after iteration k while a + k * imm is … (bytes:
  // RACE_UNTIL …)
  RACE_COUNT,
  // a + imm * (0 … b - 1). bytes: RACE_FEWER: the last iteration does not count; RACE_EVERY_TURN
  RACE_STEPS,
  RACE_STRIDES,  // a + b * (0 …), where b stays the same in the loop; bytes: RACE_EVERY_TURN
} RaceTermOp;
enum { RACE_FEWER = 1, RACE_EVERY_TURN = 2 };     // the step is made in every iteration
enum { RACE_UNTIL = 1, RACE_BELOW, RACE_UP_TO };  // … not 0; still away from 0; not beyond 0
typedef struct RaceTerm {
  uint8_t op, bytes, loop;
  uint16_t a, b;
  int64_t imm;
} RaceTerm;
enum { RACE_LIMITS = 8 };
// One access to [address, address + bytes), made where the limits hold: less < than.
typedef struct RaceReach {
  uint16_t address, nlimits;
  uint32_t bytes;
  bool writes;
  // later: from the second iteration of the loop on
  struct {
    uint16_t less, than;
    bool later;
  } limits[RACE_LIMITS];
} RaceReach;
typedef struct RaceReaches {  // all accesses through one pointer, or of one group
  const RaceReach *list;
  uint32_t n;  // 0: not all are known
} RaceReaches;
// Accesses to a variable in shared memory that share a barrier interval. The word of the launch
// record is 0 if each thread of the block only accesses bytes of its own in this launch.
typedef struct RaceGroup {
  uint32_t record_offset;
  uint32_t same_loops;  // by number: loops that all threads of a block execute in lockstep
  RaceReaches reaches;
} RaceGroup;

typedef struct RaceKernel {  // WovenKernel.tool_data
  uint32_t record_at;        // of the WgRaceRecord in its launch record; 0: nothing to check
  uint32_t first_site;
  uint32_t shared;  // bytes of shared memory that it knows of, plus 1; 0: it uses none
  const RaceTerm *terms;
  uint32_t nterms;
  const RaceGroup *groups;
  uint32_t ngroups;
  const RaceReaches *reaches;  // by fact, from number first_fact of WovenKernel.facts on
  uint32_t first_fact, nreaches;
  bool by_facts;  // if all its facts are zero there is nothing to check
  bool clock, bounds, syncs;
  bool looks_up, stores_anywhere;  // … addresses in the table of allocations; there
  bool lets;                       // the launch behind it begin before it has ended
  const char *unseen;              // what it calls and is not woven; NULL: nothing
} RaceKernel;

#endif
