// MT19937 (Matsumoto and Nishimura 1998): 8192 generators, 2^2048 steps apart on one sequence, and
// each with eight lanes. Item i of a request belongs to lane i % 8 of generator i / 8 % 8192.
#include "libraries/curand/internal.h"

enum {
  STATE = 624,
  MIDDLE = 397,
  GENERATORS = 8192,
  LANES = 8,
  DEGREE = 19937,
  DISTANCE_LOG2 = 2048,
  POLYNOMIAL_WORDS = 2 * (DEGREE / 64 + 1),  // a square fits
  WINDOW = 6,                                // bits of the jump that are applied at once
  WINDOWS = (DEGREE + WINDOW - 1) / WINDOW,
  SPAN = STATE + 8  // words that the bits of a window touch
};

static uint32_t recurrence(uint32_t first, uint32_t second, uint32_t middle) {
  uint32_t y = (first & 0x80000000u) | (second & 0x7fffffffu);
  return middle ^ y >> 1 ^ (y & 1 ? 0x9908b0dfu : 0);
}

static uint32_t temper(uint32_t y) {
  y ^= y >> 11;
  y ^= y << 7 & 0x9d2c5680u;
  y ^= y << 15 & 0xefc60000u;
  return y ^ y >> 18;
}

// --- the jump: t^(2^2048) modulo the characteristic polynomial of the recurrence ---

typedef struct Polynomial {
  uint64_t words[POLYNOMIAL_WORDS];
} Polynomial;

static uint8_t jump_windows[WINDOWS];  // the coefficients of the jump, WINDOW of them in each
static pthread_once_t jump_once = PTHREAD_ONCE_INIT;

static void add_shifted(Polynomial *to, uint64_t word, unsigned bit) {
  to->words[bit / 64] ^= word << bit % 64;
  if (bit % 64) to->words[bit / 64 + 1] ^= word >> (64 - bit % 64);
}

static Polynomial times_binomial(const Polynomial *p, unsigned high, unsigned low) {
  Polynomial out = {{0}};
  for (unsigned i = 0; i <= DEGREE / 64; i++) {
    if (!p->words[i]) continue;
    add_shifted(&out, p->words[i], 64 * i + high);
    add_shifted(&out, p->words[i], 64 * i + low);
  }
  return out;
}

// The product form of section 4.3 of the paper, with r = 31: a sum over the bits of the twist.
static unsigned characteristic_exponents(uint16_t *out) {
  Polynomial p = {{1}};
  for (int i = 0; i < 31; i++) {
    p = times_binomial(&p, STATE - 1, MIDDLE - 1);
    p.words[0] ^= 0x9908b0dfu >> i & 1;
  }
  p = times_binomial(&p, STATE, MIDDLE);
  p.words[0] ^= 1;
  unsigned n = 0;
  for (unsigned i = 0; i < DEGREE; i++)
    if (p.words[i / 64] >> i % 64 & 1) out[n++] = (uint16_t)i;
  return n;
}

static uint64_t spread(uint32_t x) {  // a 0 after each bit: the square of a polynomial
  uint64_t v = x;
  v = (v | v << 16) & 0x0000ffff0000ffffu;
  v = (v | v << 8) & 0x00ff00ff00ff00ffu;
  v = (v | v << 4) & 0x0f0f0f0f0f0f0f0fu;
  v = (v | v << 2) & 0x3333333333333333u;
  return (v | v << 1) & 0x5555555555555555u;
}

static void square(Polynomial *p, const uint16_t *exponents, unsigned n) {
  Polynomial q = {{0}};
  for (unsigned i = 0; i <= DEGREE / 64; i++) {
    q.words[2 * i] = spread((uint32_t)p->words[i]);
    q.words[2 * i + 1] = spread((uint32_t)(p->words[i] >> 32));
  }
  for (unsigned i = POLYNOMIAL_WORDS - 1; i >= DEGREE / 64; i--) {
    unsigned keep = i == DEGREE / 64 ? DEGREE % 64 : 0;
    uint64_t high = q.words[i] >> keep;
    if (!high) continue;
    q.words[i] ^= high << keep;
    for (unsigned k = 0; k < n; k++) add_shifted(&q, high, 64 * i + keep - DEGREE + exponents[k]);
  }
  *p = q;
}

static void find_jump(void) {
  uint16_t exponents[256];  // there are 135
  unsigned n = characteristic_exponents(exponents);
  Polynomial p = {{2}};
  for (int i = 0; i < DISTANCE_LOG2; i++) square(&p, exponents, n);
  for (unsigned i = 0; i < DEGREE; i++)
    jump_windows[i / WINDOW] |= (uint8_t)((p.words[i / 64] >> i % 64 & 1) << i % WINDOW);
}

// Advances a state by the jump: adds up the later states that its nonzero coefficients select.
// Windows with the same bits are added up first.
static void jump(uint32_t *state) {
  enum { LENGTH = WINDOWS * WINDOW + SPAN };
  static _Thread_local uint32_t x[LENGTH], sums[1 << WINDOW][SPAN];
  memcpy(x, state, STATE * sizeof *x);
  for (unsigned i = STATE; i < LENGTH; i++)
    x[i] = recurrence(x[i - STATE], x[i - STATE + 1], x[i - STATE + MIDDLE]);
  memset(sums, 0, sizeof sums);
  for (unsigned w = 0; w < WINDOWS; w++) {
    if (!jump_windows[w]) continue;
    uint32_t *sum = sums[jump_windows[w]];
    for (unsigned i = 0; i < SPAN; i++) sum[i] ^= x[w * WINDOW + i];
  }
  memset(state, 0, STATE * sizeof *state);
  for (unsigned v = 1; v < 1u << WINDOW; v++)
    for (unsigned bit = 0; bit < WINDOW; bit++)
      for (unsigned i = 0; v >> bit & 1 && i < STATE; i++) state[i] ^= sums[v][bit + i];
}

// --- the numbers ---

typedef struct Mt19937 {
  uint32_t frontier[STATE];              // first state of the generator that is not there yet
  unsigned there;                        // generators that have been seeded
  uint16_t *turns;                       // of each generator: states that were made of the first
  uint32_t (*states)[STATE];             // of each generator: its last 624 numbers
  uint16_t place[STATE / LANES][LANES];  // of a state: where the numbers of a lane lie
} Mt19937;

// Which number of a state a lane returns in which iteration: first one number for each lane, then
// eleven groups of seven numbers for each. The eight single numbers lie between the groups.
static void set_places(Mt19937 *m) {
  static const uint16_t single[LANES] = {0, 113, 170, 283, 340, 397, 510, 567};
  unsigned at = 0, lane_single = 0;
  for (unsigned l = 0; l < LANES; l++) m->place[0][l] = single[l];
  for (unsigned group = 0; group < 11; group++) {
    if (lane_single < LANES && at == single[lane_single]) {
      at++;
      lane_single++;
    }
    for (unsigned l = 0; l < LANES; l++)
      for (unsigned k = 0; k < 7; k++) m->place[1 + group * 7 + k][l] = (uint16_t)at++;
  }
}

static void next_state(uint32_t *x) {
  for (unsigned i = 0; i < STATE; i++)
    x[i] = recurrence(x[i], x[(i + 1) % STATE], x[(i + MIDDLE) % STATE]);
}

bool mt19937_prepare(Generator *g) {
  Mt19937 *m = calloc(1, sizeof *m);
  if (m) {
    m->states = calloc(GENERATORS, sizeof *m->states);
    m->turns = calloc(GENERATORS, sizeof *m->turns);
  }
  if (!m || !m->states || !m->turns) {
    if (m) free(m->states);
    free(m);
    return false;
  }
  set_places(m);
  uint32_t *x = m->frontier;
  x[0] = (uint32_t)g->seed;
  for (uint32_t i = 1; i < STATE; i++) x[i] = 1812433253u * (x[i - 1] ^ x[i - 1] >> 30) + i;
  g->stream_state = m;
  return true;
}

void mt19937_free(Generator *g) {
  Mt19937 *m = g->stream_state;
  if (!m) return;
  free(m->states);
  free(m->turns);
  free(m);
}

uint32_t mt19937_word(Generator *g, uint64_t item) {
  Mt19937 *m = g->stream_state;
  unsigned lane = item % LANES, which = item / LANES % GENERATORS;
  uint64_t turn = item / LANES / GENERATORS;
  for (; m->there <= which; m->there++) {
    pthread_once(&jump_once, find_jump);
    memcpy(m->states[m->there], m->frontier, sizeof m->frontier);
    next_state(m->states[m->there]);
    jump(m->frontier);
  }
  // Lanes of a generator take turns: all of them have used a state up before the next one is made.
  for (; m->turns[which] < turn / (STATE / LANES); m->turns[which]++) next_state(m->states[which]);
  return temper(m->states[which][m->place[turn % (STATE / LANES)][lane]]);
}
