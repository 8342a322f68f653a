// MTGP32 (Saito and Matsumoto 2013): blocks of 256 threads, each block with a sequence of its own.
// Item i belongs to thread i % 256 of block i / 256 % blocks. The parameters of the sequences are a
// table in a header of the CUDA toolkit, which is read when the first generator is made.
#include <stdio.h>

#include "libraries/curand/internal.h"

enum {
  PARAMETERS = 200,
  STATE = 351,
  RING = 1024,
  THREADS = 256,
  BLOCKS = 192,
  LEGACY_BLOCKS = 64
};
static const char HEADER[] = "curand_mtgp32dc_p_11213.h";

typedef struct Parameters {  // as the header orders them; single precision's table is not used
  uint32_t exponent, position, shift1, shift2, recursion[16], tempering[16], single[16], mask;
} Parameters;
enum { NUMBERS = sizeof(Parameters) / sizeof(uint32_t), DIGEST = 21 };

static Parameters parameters[PARAMETERS];
static bool have_parameters;
static pthread_once_t parameters_once = PTHREAD_ONCE_INIT;

// The next number of C's source text outside of its comments; false at its end.
static bool next_number(const char **text, uint32_t *out) {
  const char *p = *text;
  while (*p && !(*p >= '0' && *p <= '9')) {
    const char *end = NULL;
    if (p[0] == '/' && p[1] == '*') end = strstr(p, "*/");
    else if (p[0] == '/' && p[1] == '/') end = strchr(p, '\n');
    p = end ? end + 1 : p + 1;
  }
  char *end = NULL;
  *out = *p ? (uint32_t)strtoul(p, &end, 0) : 0;
  if (*p) *text = end;
  return *p != 0;
}

static bool parse(const char *text) {
  const char *p = strstr(text, "mtgp32dc_params_fast_11213[]");
  p = p ? strchr(p, '{') : NULL;
  for (unsigned i = 0; p && i < PARAMETERS; i++) {
    uint32_t *to = (uint32_t *)&parameters[i], ignored;
    for (unsigned k = 0; k < NUMBERS; k++)
      if (!next_number(&p, &to[k])) return false;
    for (unsigned k = 0; k < DIGEST; k++)
      if (!next_number(&p, &ignored)) return false;
    if (parameters[i].exponent != 11213 || parameters[i].position >= STATE) return false;
  }
  return p != NULL;
}

static void read_parameters(void) {
  char *text = toolkit_read_header(HEADER);
  have_parameters = text && parse(text);
  free(text);
}

typedef struct Sequence {
  uint32_t ring[RING];
  uint64_t made;  // numbers after the first state
} Sequence;

static unsigned blocks_of(const Generator *g) { return g->legacy ? LEGACY_BLOCKS : BLOCKS; }

bool mtgp32_is_there(void) {
  pthread_once(&parameters_once, read_parameters);
  return have_parameters;
}

static void seed(Sequence *s, const Parameters *p, uint32_t value) {
  uint32_t hidden = p->recursion[4] ^ p->recursion[8] << 16, fill = hidden;
  fill += fill >> 16;
  fill += fill >> 8;
  memset(s->ring, (int)(fill & 0xff), STATE * sizeof *s->ring);
  s->ring[0] = value;
  s->ring[1] = hidden;
  for (uint32_t i = 1; i < STATE; i++)
    s->ring[i] ^= 1812433253u * (s->ring[i - 1] ^ s->ring[i - 1] >> 30) + i;
}

bool mtgp32_prepare(Generator *g) {
  Sequence *s = calloc(blocks_of(g), sizeof *s);
  if (!s) return false;
  for (unsigned b = 0; b < blocks_of(g); b++)
    seed(&s[b], &parameters[b], (uint32_t)(g->seed ^ g->seed >> 32) + b + 1);
  g->stream_state = s;
  return true;
}

void mtgp32_free(Generator *g) { free(g->stream_state); }

uint32_t mtgp32_word(Generator *g, uint64_t item) {
  unsigned block = item / THREADS % blocks_of(g);
  uint64_t at = item / THREADS / blocks_of(g) * THREADS + item % THREADS;
  const Parameters *p = &parameters[block];
  Sequence *s = (Sequence *)g->stream_state + block;
  for (; s->made <= at; s->made++) {
    uint32_t i = (uint32_t)s->made, x = (s->ring[i % RING] & p->mask) ^ s->ring[(i + 1) % RING];
    x ^= x << p->shift1;
    uint32_t y = x ^ s->ring[(i + p->position) % RING] >> p->shift2;
    s->ring[(i + STATE) % RING] = y ^ p->recursion[y & 15];
  }
  uint32_t i = (uint32_t)at, t = s->ring[(i + p->position - 1) % RING];
  t ^= t >> 16;
  t ^= t >> 8;
  return s->ring[(i + STATE) % RING] ^ p->tempering[t & 15];
}
