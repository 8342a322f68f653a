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
  RNG_MTGP32 = 141,
  RNG_MT19937 = 142,
  RNG_PHILOX = 161,
  RNG_SOBOL32 = 201,
  RNG_SCRAMBLED_SOBOL32 = 202,
  RNG_SOBOL64 = 203,
  RNG_SCRAMBLED_SOBOL64 = 204
};
enum { ORDERING_SEEDED = 102, ORDERING_LEGACY = 103, ORDERING_QUASI = 201 };
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

typedef struct ThreadPair {  // normal numbers of which the second is kept for another request
  float numbers[2];
  bool kept;
} ThreadPair;

typedef struct Generator {
  uint32_t magic;
  int type;
  bool on_host, legacy, seeded;  // CURAND_ORDERING_PSEUDO_LEGACY, …_SEEDED
  const void *stream;
  uint64_t seed, offset;
  pthread_mutex_t lock;
  bool ready;           // the states are those of seed and offset
  uint64_t next;        // thread of the next item; Sobol: the next point; MT: the next item
  uint64_t dimensions;  // Sobol
  uint32_t within;      // Philox: numbers of its block that were used
  ThreadState *states;
  ThreadPair *pairs;        // XORWOW, MRG32k3a; one for each thread
  void *stream_state;       // MT19937, MTGP32
  struct Poisson *poisson;  // of the last request; NULL: there was none
} Generator;

uint64_t generator_threads(const Generator *g);
bool generator_prepare(Generator *g);  // false: no memory
void generator_free_states(Generator *g);
// The next draw of a thread, its state at *s. MRG32k3a: from 1 to 4294967087
uint32_t xorwow_next(ThreadState *s);
uint32_t mrg_next(ThreadState *s);
void philox_block(const Generator *g, uint64_t thread, uint64_t counter, uint32_t out[4]);

// --- mt19937.c, mtgp32.c: one sequence of words, asked for in ascending order ---
bool mt19937_prepare(Generator *g);  // false: no memory
void mt19937_free(Generator *g);
uint32_t mt19937_word(Generator *g, uint64_t item);
bool mtgp32_is_there(void);  // false: no toolkit has its parameters
bool mtgp32_prepare(Generator *g);
void mtgp32_free(Generator *g);
uint32_t mtgp32_word(Generator *g, uint64_t item);
static inline bool is_stream(const Generator *g) {
  return g->type == RNG_MT19937 || g->type == RNG_MTGP32;
}

// --- toolkit.c ---
char *toolkit_read_header(const char *name);      // to be freed; NULL: there is none
void *toolkit_curand_function(const char *name);  // of NVIDIA's libcurand; NULL: not installed

// --- distributions.c ---
typedef enum Kind {
  KIND_BITS,
  KIND_UNIFORM,
  KIND_UNIFORM_DOUBLE,
  KIND_LONG_BITS,
  KIND_POISSON,
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
static inline bool is_double(Kind k) {
  return k == KIND_UNIFORM_DOUBLE || k == KIND_NORMAL_DOUBLE || k == KIND_LOG_NORMAL_DOUBLE;
}
static inline bool is_log(Kind k) { return k == KIND_LOG_NORMAL || k == KIND_LOG_NORMAL_DOUBLE; }

// --- words.c: generators that make each result of one word ---
void word_store(const Request *r, uint64_t at, uint64_t word);
double word_unit(const Generator *g, uint64_t word, bool is_double);  // above 0, up to 1
double word_normal(const Generator *g, uint64_t word, bool is_double);

// --- poisson.c ---
typedef struct Poisson {
  double lambda;
  uint32_t shift, length;  // results from shift on, as many as there are
  double *mass;            // probability of each, then: of it and all before it
  double *threshold;       // the square histogram: below it the result is the cell's own,
  uint32_t *alias;         // else this one
} Poisson;
enum { POISSON_IS_NORMAL = 2000 };    // lambda from which most generators take normal numbers
Poisson *poisson_new(double lambda);  // NULL: no memory
void poisson_free(Poisson *p);
uint32_t poisson_by_histogram(const Poisson *p, double u);
uint32_t poisson_by_search(const Poisson *p, double u);
static inline uint32_t poisson_of_normal(double lambda, double normal) {
  return (uint32_t)(__builtin_sqrt(lambda) * normal + lambda + 0.5);
}

// --- sobol.c ---
enum { SOBOL_DIMENSIONS = 21 };  // have direction numbers here; NVIDIA's library has the rest
enum { MOST_DIMENSIONS = 20000 };
bool sobol_has_tables(const Generator *g);  // of all dimensions
void sobol_fill(const Request *r);
static inline bool is_scrambled(const Generator *g) {
  return g->type == RNG_SCRAMBLED_SOBOL32 || g->type == RNG_SCRAMBLED_SOBOL64;
}
static inline bool is_sobol(const Generator *g) {
  return g->type >= RNG_SOBOL32 && g->type <= RNG_SCRAMBLED_SOBOL64;
}
static inline bool is_wide(const Generator *g) { return is_sobol(g) && g->type >= RNG_SOBOL64; }
#endif
