// weave: adds the checks of tools to PTX. Each tool has a pass in its own folder; docs/new-tool.md
// writes one step by step.
//
// A module goes through all passes of a run at once. The result is the same program with probes:
// the virtual device runs it directly, a GPU after printing and compiling. docs/weave.md says how
// to write a pass.
#ifndef WG_WEAVE_WEAVE_H
#define WG_WEAVE_WEAVE_H

#include "base/base.h"
#include "probe/probe_abi.h"
#include "ptx/ptx.h"

typedef enum ToolId {
#define TOOL(id, name, help) TOOL_##id,
#include "tools/tools.def"
  TOOL_COUNT_
} ToolId;
enum { TOOL_MOST = 32 };  // sets of tools are bits of a word; arrays in structs have this size
#define TOOL_BIT(id) (1u << TOOL_##id)

// Registers of passes that run before those of tools begin so. An address of global memory in one
// is always right.
#define EARLY_REG_PREFIX "%wgint_"
const char *tool_name(ToolId id);                                 // "count"
bool tools_parse(const char *list, unsigned *tools, Error *err);  // "none", "count", "a,b", "all"
bool tools_need_each_object(unsigned tools);  // whether one of them does: weave/pass.h
bool tools_hear_nvtx(unsigned tools);

typedef struct WeavePlan {
  unsigned tools;  // TOOL_BIT()s; 0: nothing to add
  // Which kernels to instrument (--kernel, --kernel-exclude); NULL: all. Others are left as they
  // are.
  bool (*wants_kernel)(const char *name, void *user);
  void *user;
  bool spare_registers;  // for a compiler of machine code: weave/cold_calls.c
  bool find_writes;      // say what each kernel may write; also without a tool
  // by ToolId: what the user's options mean for the tool's pass (Pass.options)
  unsigned tool_options[TOOL_MOST];
} WeavePlan;
struct Options;
void weave_set_options(WeavePlan *plan, const struct Options *o);  // sets tool_options
// Blocks of a launch may be numbered otherwise, if WgReports.list says how.
bool weave_takes_list(const WeavePlan *plan);

// The place of an instruction in the source: places[0] is the line itself, places[1] where that
// function was inlined, and so on.
typedef struct SitePlace {
  const char *file, *function;
  uint32_t line, column;
} SitePlace;
typedef struct Site {
  uint32_t kernel;       // index in Woven.kernels; UINT32_MAX: a function that several may call
  const char *function;  // the PTX function it is in
  const char *text;      // the instruction as printed
  uint32_t ptx_line;
  unsigned classes;  // PtxClass bits
  PtxSpace space;
  uint32_t bytes;  // one thread's access
  const SitePlace *places;
  uint32_t nplaces;  // 0: compiled without -lineinfo
  // Bad accesses: the variable the address belongs to, or the number plus 1 of the kernel's
  // parameter that points to its memory. NULL, 0: not known
  const char *object;
  uint32_t parameter;
  uint8_t detail;  // a number of the tool that made it, for its half inside the program
} Site;

// A fact that a pass needs about a pointer parameter at each launch. The host puts it into the
// launch record.
enum {
  // uint64_t base, last: an access at address a is inside if a - base <= last. UINT64_MAX, 0: not
  // known
  FACT_RANGE,
  // uint32_t: pointer + offset + scale * i is inside for all i < limit. 0: not known
  FACT_INDEX_LIMIT,
  // plus a ToolId: three uint64_t, which the tool fills in itself. Zeros: nothing is known
  FACT_OF_TOOL
};
typedef unsigned WeaveFactKind;
enum { FACT_READS = 1, FACT_WRITES = 2 };
typedef struct WeaveFact {
  WeaveFactKind kind;
  uint32_t record_offset;  // where in the added parameter
  // number of the kernel's parameter; where the pointer is in the buffer of all parameters
  uint32_t param, param_at;
  uint32_t param_offset;  // where in that parameter
  uint32_t bytes;         // of one access
  uint32_t align;  // the pointer must be a multiple of it, else nothing is known; 0: it need not
  int64_t offset;
  uint32_t scale;
  bool index_signed;
  // FACT_OF_TOOL: the kernel stores nothing through this pointer; it reads through it
  bool read_only, is_read;
  // FACT_RANGE, FACT_INDEX_LIMIT: what the kernel does through this pointer: FACT_READS …
  uint32_t accesses;
} WeaveFact;

// An expression over parameters, thread and block numbers and sizes of a launch; its operands
// precede it in the list. bytes: of its result, 4 or 8. CONVERT: from a value of that size.
typedef enum {
  REACH_CONST,
  REACH_PARAM,
  REACH_TID,
  REACH_NTID,
  REACH_CTAID,
  REACH_NCTAID,
  REACH_ADD,
  REACH_SUB,
  REACH_MUL,
  REACH_MUL_WIDE,
  REACH_SHL,
  REACH_OR,
  REACH_CONVERT
} ReachOp;
// value: the constant, or the dimension (0: x, 1: y, 2: z)
typedef struct ReachNode {
  ReachOp op;
  uint16_t a, b;
  uint8_t bytes;
  bool is_signed;
  int64_t value;
  WeaveFact param;
} ReachNode;
// an access: its address is that of the node plus offset
typedef struct ReachRoot {
  uint16_t node;
  uint32_t bytes;
  int64_t offset;
} ReachRoot;

// A pointer parameter that the kernel stores through; pointer.bytes: of an element. reach: its
// stores; nreach 0: their addresses are not known.
typedef struct WeaveWrite {
  WeaveFact pointer;
  PtxType type;
  const ReachRoot *reach;
  uint32_t nreach;
} WeaveWrite;
typedef struct WeaveWrittenVariable {
  const char *name;
  PtxType type;
} WeaveWrittenVariable;

typedef struct WovenKernel {
  const char *name;
  bool instrumented;
  const char *reason;  // why it is not instrumented
  // no tool has added code, and none needs its launches: the original does the same
  bool unchanged;
  uint32_t user_params, user_param_bytes;  // without ours
  uint32_t record_offset, record_bytes;    // of the added parameter; bytes 0: it has none
  const WeaveFact *facts;
  uint32_t nfacts;
  // registers that a thread may have on a GPU whatever the original uses; 0: the device decides
  uint32_t registers;
  bool has_loops;
  // A kernel with loops gets loop_registers more than the original uses, up to loop_registers_most
  // in all; 0: the device decides.
  uint32_t loop_registers, loop_registers_most;
  bool may_recurse;  // the depth of its stack is not known from its code
  // If a pass has looked for it: the kernel waits for the launch before it in its stream
  // (griddepcontrol); the host may see its effects before it ends.
  bool waits_for_launch, tells_host;
  // WeavePlan.find_writes. elsewhere: also through pointers that are no parameters
  bool writes_known, writes_elsewhere;
  const WeaveWrite *writes;
  uint32_t nwrites;
  const ReachNode *reach_nodes;
  uint32_t nreach_nodes;
  // approximate: instructions whose rounding may differ between devices; order_dependent: what
  // makes its results depend on the order of threads. NULL: nothing
  const char *approximate, *order_dependent;
  double relative_limit, absolute_limit;  // the largest difference of one of them between devices
  const WeaveWrittenVariable *written_variables;
  uint32_t nwritten_variables;
  void *tool_data[TOOL_MOST];  // by ToolId: what a tool's pass leaves for its host.c
} WovenKernel;

typedef struct Woven {
  Arena arena;  // everything below
  WovenKernel *kernels;
  uint32_t nkernels;
  Site *sites;
  uint32_t nsites;             // numbers in the code are indices here, plus WgLaunch.site_base
  uint32_t ncounters;          // uint64_t the module needs at WgLaunch.counters
  struct CountTable *counts;   // of executions (weave/execution_counts.h); NULL: not counted
  bool uses_heap;              // a pass has put something around calls of malloc or free
  bool may_wait;               // src/gpu: the program's own code may wait for other blocks
  const char *probe_prefix;    // the prefix of all names of probes, and of no others
  void *tool_data[TOOL_MOST];  // by ToolId: what a tool's pass leaves for its host.c
} Woven;

// The units are one program (several: -rdc, linked by symbol). They are changed in place and verify
// afterwards. On failure they must not be used any more.
bool weave_module(PtxModule **units, uint32_t nunits, const WeavePlan *plan, Woven *out,
                  Error *err);
void weave_free(Woven *r);
const WovenKernel *weave_kernel(const Woven *r, const char *name);  // NULL: no such kernel
// Where an instruction stands, inline chain included; also for faults of kernels without probes.
uint32_t weave_places(Arena *a, const PtxModule *m, const PtxLoc *loc, const SitePlace **out);
bool weave_is_toolkit_header(const char *path);  // one of the CUDA toolkit's own

#endif
