// Data that racecheck's pass hands to its half inside the program.
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
  RACE_PARAMETER,  // `bytes` at b of parameter a; imm: offset in the buffer of all parameters
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
  // the iterations of a loop that continues after iteration k while a + k * imm satisfies a
  // condition (bytes: RACE_UNTIL …)
  RACE_COUNT,
  // a + imm * (0 … b - 1). bytes: RACE_FEWER: the last iteration does not count; RACE_EVERY_TURN
  RACE_STEPS,
  RACE_STRIDES,  // a + b * (0 …), where b is constant in the loop; bytes: RACE_EVERY_TURN
} RaceTermOp;
enum { RACE_FEWER = 1, RACE_EVERY_TURN = 2 };     // the step is made in every iteration
enum { RACE_UNTIL = 1, RACE_BELOW, RACE_UP_TO };  // … is not 0; has not reached 0; has not passed 0
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
  bool needs_rehearsal;  // threads may race on bytes of their own: by copies performed later
} RaceGroup;

// The part of a kernel that decides which bytes of shared memory a thread accesses, and when
// (weave_rehearsal.c). The host executes it for one block (host_rehearsal.c).
typedef enum {
  RACE_DO_LOSE,  // `to` becomes unknown
  RACE_DO_MOVE,
  RACE_DO_CONVERT,  // from `from_bits`
  RACE_DO_ADD,
  RACE_DO_SUBTRACT,
  RACE_DO_MULTIPLY,
  RACE_DO_MULTIPLY_ADD,
  RACE_DO_DIVIDE,
  RACE_DO_REMAINDER,
  RACE_DO_LEAST,
  RACE_DO_MOST,
  RACE_DO_NEGATE,
  RACE_DO_AND,
  RACE_DO_OR,
  RACE_DO_XOR,
  RACE_DO_NOT,
  RACE_DO_SHIFT_LEFT,
  RACE_DO_SHIFT_RIGHT,
  RACE_DO_SELECT,
  RACE_DO_COMPARE,
  RACE_DO_FIELD,  // bfe
  RACE_DO_TABLE,  // lop3
  RACE_DO_JUMP,
  RACE_DO_END,
  RACE_DO_BARRIER,
  RACE_DO_COMMIT,
  RACE_DO_WAIT,  // operand 0: how many groups may stay pending
  RACE_DO_WAIT_ALL,
  RACE_DO_ACCESS,  // operand 0: the address; 1: the distance of lines
  RACE_DO_COPY,    // … that is performed later
} RaceStepOp;
enum {
  RACE_STEP_SIGNED = 1,
  RACE_STEP_WIDE = 2,
  RACE_STEP_HIGH = 4,
  RACE_STEP_WRITES = 8,
  RACE_STEP_STRONG = 16,
  RACE_STEP_HAS_AND = 32,  // COMPARE: with operand 2
  RACE_STEP_HAS_OR = 64,
  RACE_STEP_HAS_XOR = 128,
};
typedef enum { RACE_EQ, RACE_NE, RACE_LT, RACE_LE, RACE_GT, RACE_GE } RaceCompare;
typedef enum {
  RACE_OPD_NONE,
  RACE_OPD_REGISTER,   // n
  RACE_OPD_NUMBER,     // imm
  RACE_OPD_PARAMETER,  // n: of RaceRehearsal.params
  RACE_OPD_VARIABLE,   // n: of shared memory; imm: offset in it
  RACE_OPD_THREAD,     // n: 0 to 2: x, y, z
  RACE_OPD_BLOCK_DIM,
  RACE_OPD_GRID_DIM,
  RACE_OPD_LANE,
  RACE_OPD_UNKNOWN,
} RaceOperandKind;
typedef struct RaceOperand {
  uint8_t kind;
  bool negated;  // a predicate
  uint16_t n;
  int64_t imm;
} RaceOperand;
typedef struct RaceStep {
  uint8_t op, bits, from_bits, flags, compare;
  uint8_t lanes;        // ACCESS: this many lanes of a warp access a line each; 0: every lane
  uint16_t to;          // register
  uint32_t bytes;       // ACCESS, COPY
  uint32_t jump, join;  // JUMP; join: the reconvergence point; UINT32_MAX: there is none
  RaceOperand guard;    // NONE: always
  RaceOperand operand[4];
} RaceStep;
typedef struct RaceParam {  // `bytes` at `at` of parameter `param`; buffer_at: in the buffer of all
  uint32_t param, at, buffer_at, bytes;
} RaceParam;
// The position of a variable of shared memory; size 0: the launch decides its size
typedef struct RaceVariable {
  uint32_t at, size;
} RaceVariable;
enum { RACE_MOST_VARIABLES = 30, RACE_MOST_PARAMS = 40 };
typedef struct RaceRehearsal {
  const RaceStep *steps;
  uint32_t nsteps, nregs, unit;  // unit: all accesses are of multiples of this many bytes
  RaceVariable variables[RACE_MOST_VARIABLES];
  RaceParam params[RACE_MOST_PARAMS];
  uint32_t nvariables, nparams, bytes;  // bytes: of all variables that have a size
  bool uses_grid;                       // the grid's dimensions
  uint64_t hash;
} RaceRehearsal;

typedef struct RaceKernel {  // WovenKernel.tool_data
  uint32_t record_at;        // of the WgRaceRecord in its launch record; 0: nothing to check
  uint32_t first_site;
  uint32_t shared;  // bytes of shared memory known to the pass, plus 1; 0: it uses none
  const RaceTerm *terms;
  uint32_t nterms;
  const RaceGroup *groups;
  uint32_t ngroups;
  const RaceRehearsal *rehearsal;  // NULL: the block cannot be rehearsed
  const RaceReaches *reaches;      // by fact, from number first_fact of WovenKernel.facts on
  uint32_t first_fact, nreaches;
  bool by_facts;  // if all its facts are zero, there is nothing to check
  bool clock, bounds, syncs;
  bool looks_up, stores_anywhere;  // … addresses in the table of allocations; through these
  bool lets;                       // it lets the next launch begin before it has ended
  const char *unseen;              // a function it calls that has no checks; NULL: none
} RaceKernel;

#endif
