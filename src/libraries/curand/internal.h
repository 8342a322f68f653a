// cuRAND's host interface on the virtual device: what its files share.
//
// A generator is many sequences ("threads"), as many as the real library's kernels have. Numbers go
// to memory in turns: item i is made by thread i mod threads from its next draws. The test
// tests/libraries/curand.sh compares them with NVIDIA's own host generators.
#ifndef WG_LIBRARIES_CURAND_INTERNAL_H
#define WG_LIBRARIES_CURAND_INTERNAL_H

#include <pthread.h>

#include "libraries/common/call.h"

typedef enum Status {
  SUCCESS = 0,
  NOT_INITIALIZED = 101,
  ALLOCATION_FAILED = 102,
  TYPE_ERROR = 103,
  OUT_OF_RANGE = 104,
  LENGTH_NOT_MULTIPLE = 105,
  LAUNCH_FAILURE = 201,
  NOT_SUPPORTED = 204  // cuRAND has no such status: ARCH_MISMATCH is the nearest
} Status;

enum {
  RNG_XORWOW = 101,
  RNG_MRG32K3A = 121,
  RNG_PHILOX = 161,
  RNG_SOBOL32 = 201,
  RNG_SOBOL64 = 203
};
enum { SOBOL_DIMENSIONS = 21 };  // that have direction numbers
enum { GENERATOR_MAGIC = 0x646e7263 };

typedef union ThreadState {
  struct {
    uint32_t d, v[5];
  } xorwow;
  struct {
    uint32_t s1[3], s2[3];
  } mrg;
  struct {
    uint64_t counter;  // of blocks of four numbers
  } philox;
} ThreadState;

typedef struct Generator {
  uint32_t magic;
  int type;
  bool on_host, legacy;  // legacy: CURAND_ORDERING_PSEUDO_LEGACY
  const void *stream;
  uint64_t seed, offset;
  pthread_mutex_t lock;
  bool ready;           // the states are those of seed and offset
  uint64_t next;        // thread of the next item; Sobol: the next point
  uint64_t dimensions;  // Sobol
  uint32_t within;      // Philox: numbers of its block that were used
  ThreadState *states;
} Generator;

uint64_t generator_threads(const Generator *g);
bool generator_prepare(Generator *g);  // false: no memory
// The next draw of a thread, its state at *s. MRG32k3a: from 1 to 4294967087
uint32_t xorwow_next(ThreadState *s);
uint32_t mrg_next(ThreadState *s);
void philox_block(const Generator *g, uint64_t thread, uint64_t counter, uint32_t out[4]);

// --- distributions.c ---
typedef enum Kind {
  KIND_BITS,
  KIND_UNIFORM,
  KIND_UNIFORM_DOUBLE,
  KIND_LONG_BITS,
  KIND_NORMAL,
  KIND_NORMAL_DOUBLE,
  KIND_LOG_NORMAL,
  KIND_LOG_NORMAL_DOUBLE
} Kind;
typedef struct Request {
  Generator *generator;
  Kind kind;
  void *out;
  uint64_t n;
  double mean, deviation;
} Request;
void distribution_fill(void *request);

// --- sobol.c ---
void sobol_fill(const Request *r);
static inline bool is_sobol(const Generator *g) {
  return g->type == RNG_SOBOL32 || g->type == RNG_SOBOL64;
}
#endif
