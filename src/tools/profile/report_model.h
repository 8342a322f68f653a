// Everything that profile measured in a run, by kernel and source line; advice about it.
#ifndef WG_PROFILE_REPORT_MODEL_H
#define WG_PROFILE_REPORT_MODEL_H

#include "run/run.h"
#include "tools/profile/internal.h"
#include "tools/profile/measures.h"
#include "tools/profile/report_occupancy.h"
#include "tools/profile/report_peaks.h"

typedef enum RuleId {
#define RULE(id, name, what, instead) RULE_##id,
#include "tools/profile/rules.def"
#undef RULE
  RULE_COUNT
} RuleId;
typedef struct Rule {
  const char *name, *what, *instead;
} Rule;
extern const Rule profile_rules[RULE_COUNT];

// The parts of a multiprocessor that can limit a kernel: it takes as long as its longest part. In
// nanoseconds of the whole device, at its peak.
typedef enum Part { PART_MEMORY, PART_SHARED, PART_ISSUE, PART_ATOMICS, PART_COUNT } Part;

typedef struct Access {  // an instruction, all processes together
  const RunMeasure *m;
  double ideal;  // the necessary sectors, wavefronts or words
} Access;

typedef struct Branch {
  const char *file;
  uint32_t line;
  uint64_t warps, parted, idle;
} Branch;

typedef struct KernelProfile {
  const char *name, *readable;
  VEC(Access) accesses;
  VEC(Branch) branches;
  uint64_t instructions, warp_instructions;
  uint64_t floats;   // FP instructions of threads
  uint64_t uniform;  // of warp_instructions: the same in all lanes
  uint64_t classes[COUNT_CLASSES];
  uint64_t buffers;  // bytes that parameters of a launch point into, at most
  uint64_t achieved[OCCUPANCY_COUNT];
  uint64_t work_warps, work_sum, work_most;
  double parts[PART_COUNT];
  // launches: how many, threads of a block, blocks of all of them, bytes of dynamic shared memory
  uint64_t launches, threads, blocks, shared, cluster, first_line;
  // of graphs: nodes that were captured; how often they ran, if known
  uint64_t nodes, node_runs;
  uint64_t runs;  // launches, and runs of nodes as far as they are known
  uint64_t ns;    // of all launches on a GPU, without our code; 0: not known
  // launches with known times; those that take less time than a launch costs
  uint64_t timed, short_launches, short_ns;
  const char *first_file;
  const RunMeasure *resources;  // NULL: not known
} KernelProfile;

typedef struct Advice {
  RuleId rule;
  const char *kernel, *file;  // kernel NULL: about the whole program
  uint32_t line;
  const char *evidence, *instead;
  double gain_ns;   // at the peaks of the model, for the order
  double worth_ms;  // < 0: there are no times
} Advice;

typedef struct ProfileModel {
  Run *run;
  Arena arena;
  VEC(KernelProfile *) kernels;
  VEC(Advice) advice;  // the most gain first
  const Peaks *peaks;
  bool has_times;
  const char *times;              // who measured the times of the device; NULL: nobody
  bool has_plain;                 // a second run has the times of the program's own kernels
  VEC(const RunMeasure *) calls;  // in their order
} ProfileModel;

// --- report_model.c ---
void profile_model_build(Run *r, ProfileModel *m);
void profile_model_free(ProfileModel *m);
// gain: by how much the part becomes shorter
void profile_advise(ProfileModel *m, const KernelProfile *k, Advice a, Part part, double gain);
double profile_kernel_ns(const KernelProfile *k);       // by the model
double profile_achieved_warps(const KernelProfile *k);  // of a multiprocessor; 0: not measured
double profile_spilled_bytes(const KernelProfile *k);   // of all threads, stored and loaded

// how many requests of an access are not estimated
uint64_t profile_looked_at(const RunMeasure *m);

// --- report_rules_*.c ---
void profile_rules_memory(ProfileModel *m, const KernelProfile *k);
void profile_rules_control(ProfileModel *m, const KernelProfile *k);

void profile_rules_calls(ProfileModel *m);
void profile_rules_occupancy(ProfileModel *m, const KernelProfile *k);
bool profile_occupancy(const KernelProfile *k, Occupancy *out);  // false: not known

// --- report_spills.c ---
void spills_text(const ProfileModel *m, const KernelProfile *k, Str *out);

// --- report_pattern.c: "stride of 128 bytes" ---
void profile_pattern(const RunMeasure *m, Str *out);
const char *profile_site_kind(const RunMeasure *m);  // "loads of global memory"

#endif
