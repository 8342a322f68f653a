// diff: two runs side by side. Launches are matched by kernel and order, their outputs compared by
// the hashes that --hash kept; where the contents of a buffer are known, too, element by element.
#ifndef WG_DIFF_H
#define WG_DIFF_H

#include "base/base.h"

// --- values.c: elements of a buffer ---
typedef enum {
  DIFF_BITS,
  DIFF_SIGNED,
  DIFF_UNSIGNED,
  DIFF_F16,
  DIFF_BF16,
  DIFF_F32,
  DIFF_F64
} DiffKind;
typedef struct DiffType {
  DiffKind kind;
  uint32_t bytes;
} DiffType;  // bytes: 1, 2, 4 or 8
// "f32"; NULL or unknown: bits of that size
DiffType diff_type(const char *name, uint32_t element_bytes);
const char *diff_type_name(DiffType t);
bool diff_is_float(DiffType t);
uint64_t diff_load(const void *p, DiffType t);         // the element's bits
void diff_print(Str *out, uint64_t bits, DiffType t);  // so that it can be read back exactly
bool diff_read(const char *text, DiffType t, uint64_t *bits);  // what diff_print wrote
double diff_value(uint64_t bits, DiffType t);
bool diff_is_nan(uint64_t bits, DiffType t);
// How many numbers of the format lie between the two, plus 1; 0: the same number (+0 and -0 are).
// Integers: their distance. Neither may be NaN.
uint64_t diff_ulps(uint64_t a, uint64_t b, DiffType t);
int diff_order(uint64_t a, uint64_t b, DiffType t);  // of all bit patterns, numbers by value

typedef enum { DIFF_NAN_EQUAL, DIFF_NAN_BITS, DIFF_NAN_DIFFERS } DiffNan;
typedef struct DiffRules {
  uint64_t ulps;
  double relative, absolute;  // an element that keeps one of them counts as equal
  bool has_tolerance;
  DiffNan nan;     // two NaNs: equal, equal if their bits are, never equal
  bool zero_bits;  // +0 and -0 differ
  bool unordered;  // compare sorted
} DiffRules;
bool diff_rules_tolerance(DiffRules *r, const char *text, Error *err);  // "4ulp,1e-6rel,1e-9abs"
bool diff_same(uint64_t a, uint64_t b, DiffType t, const DiffRules *r);

// --- elements.c: two buffers with known contents ---
typedef struct DiffElement {
  uint64_t index, a, b;
} DiffElement;
typedef struct DiffElements {
  uint64_t compared, different;
  // of those that differ; without NaNs and infinities
  uint64_t most_ulps;
  double most_absolute, most_relative;
  uint64_t nans;   // that differ, one of the two being NaN
  uint64_t first;  // index of the first that differs
  DiffElement *shown;
  uint32_t nshown;
} DiffElements;
typedef struct DiffBuffers {
  const void *a, *b;
  uint64_t bytes;  // of each
} DiffBuffers;
void diff_elements(const DiffBuffers *both, DiffType t, const DiffRules *r, uint32_t most_shown,
                   DiffElements *out);
void diff_elements_free(DiffElements *e);

// --- runs.c: what a run file says of outputs ---
typedef struct DiffBuffer {
  // state: why the hash says nothing; NULL: it does
  const char *name, *type, *hash, *multiset, *state;
  uint64_t bytes;
  uint32_t element, parameter;
  const char *dump;
  bool dump_text;  // dump: a file with its contents, NULL: none; dump_text: it is text
  uint32_t allocation;
} DiffBuffer;
// table kernel_numerics
typedef struct DiffNumerics {
  const char *approximate, *order;
  double relative, absolute;
} DiffNumerics;
typedef struct DiffStep {
  uint32_t process, number, launch, graph;  // launch or graph: the other is 0
  uint32_t launch_id;                       // in the file
  const char *kernel;                       // as written; NULL: of a graph
  const DiffNumerics *numerics;             // NULL: its numbers are the same everywhere
  const char *place;                        // "file:line" of the host that launched it, or NULL
  DiffBuffer *buffers;
  uint32_t nbuffers;
  bool cut;  // not all that was recorded of it is in the file
} DiffStep;
typedef struct DiffRun {
  Arena arena;
  const char *path, *program, *device;
  bool complete, ended;  // the command finished the file; and all processes ended in order
  DiffStep *steps;
  uint32_t nsteps;
  const DiffStep *first_cut;  // NULL: none is
  DiffNumerics any;           // of all kernels, for graphs
  struct DiffRecording *recording;
} DiffRun;
bool diff_run_load(const char *path, DiffRun *out, Error *err);
void diff_run_free(DiffRun *r);
void diff_step_name(const DiffStep *s, Str *out);  // "launch 7 of scale(float*, int)"
void diff_buffer_name(const DiffBuffer *b, uint32_t i, Str *out);  // "y"; "buffer 2 (parameter 3)"

typedef struct DiffPair {
  const DiffStep *a, *b;
} DiffPair;  // one may be NULL

// --- cut.c: up to where a run was recorded ---
void diff_find_cuts(DiffRun *r, bool hashed);
struct Diff;
// Whether a run was cut short before this pair: then it is neither the same nor a difference.
bool diff_is_beyond(const struct Diff *d, const DiffPair *p);
void diff_cut_text(const DiffRun *r, Str *out);  // sentences; nothing where the run is whole

// --- contents.c ---
// The b->bytes bytes of the buffer, which the caller frees; NULL: they are not known.
void *diff_contents(const DiffRun *r, const DiffStep *s, const DiffBuffer *b, DiffType t,
                    Error *err);
bool diff_has_contents(const DiffRun *r, const DiffBuffer *b);
struct Store;
// Takes the store over. Does nothing if nothing was recorded; false: damaged.
bool diff_recording_open(DiffRun *r, struct Store *store, Error *err);
// false: what was read of it is damaged
bool diff_recording_is_whole(const DiffRun *r, Error *err);
void diff_recording_close(DiffRun *r);

// --- match.c ---
typedef struct DiffBufferResult {
  const DiffBuffer *a, *b;
  // WITHIN: bits differ, by no more than the rules allow. LEFT_OUT: --hash did not look at it
  enum { DIFF_EQUAL, DIFF_WITHIN, DIFF_DIFFERENT, DIFF_NOT_COMPARED, DIFF_LEFT_OUT } outcome;
  const char *why;  // NOT_COMPARED; or what differs, if it is not the contents
  bool has_elements;
  DiffElements elements;
  DiffType type;
} DiffBufferResult;
typedef struct DiffResult {
  DiffPair pair;
  DiffBufferResult *buffers;
  uint32_t n;
  bool different, inexact, skipped;
} DiffResult;
typedef struct Diff {
  Arena arena;
  const DiffRun *a, *b;
  DiffRules rules;
  uint32_t most_shown;
  VEC(DiffPair) pairs;  // in the order of A
  // buffers of pairs compared so far
  uint64_t equal, within, different, not_compared, left_out, buffers;
  // allocation -> the first launch (DiffStep of A) that wrote to it and was not hashed, since the
  // allocation was last found equal
  U64Map unseen;
  // index of the first pair that lacks one side and should have both; UINT32_MAX: none
  uint32_t first_unmatched;
  uint64_t beyond;  // pairs after the point where a run was cut short
} Diff;
void diff_match(Diff *d, const DiffRun *a, const DiffRun *b);
void diff_compare(Diff *d, DiffPair p, DiffResult *out);
// The first launch whose outputs were not compared: they may differ already. NULL: none.
const DiffStep *diff_first_unseen(const Diff *d);
void diff_result_free(DiffResult *r);
void diff_free(Diff *d);

// --- gold.c: what a launch may differ by on two devices ---
// inherits: earlier launches differed within their limits
typedef struct DiffGold {
  DiffRules asked;
  bool has_asked;
  bool inherits;
  uint32_t since;
} DiffGold;
// The rules for this launch; *why: in words, NULL if it must be the same bit by bit.
void diff_gold_rules(const DiffGold *g, const DiffRun *run, const DiffStep *s, DiffRules *out,
                     Str *why);

// --- report.c ---
void diff_result_text(const Diff *d, const DiffResult *r, Str *out);
void diff_result_json(const DiffResult *r, Str *out);
void diff_step_json(const DiffStep *s, Str *out);

#endif
