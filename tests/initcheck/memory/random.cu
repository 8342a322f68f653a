// Copies, sets and marks at random, beside a model of what is initialised. On a GPU, where whole
// words of 4 are followed, what is initialised must never be taken for uninitialised; elsewhere the
// two must agree to the byte.
#include "check.h"
#include "warpgrind.h"
#include <cstring>

enum { N = 3, BYTES = 4096, PITCH = 64 };
static char *memory[N];
static bool model[N][BYTES];
static char host[BYTES];
static unsigned state = 12345;

static unsigned random_below(unsigned n) {
  state = state * 1664525u + 1013904223u;
  return (state >> 8) % n;
}

static bool all(int b, unsigned from, unsigned n) {
  for (unsigned i = 0; i < n; i++)
    if (!model[b][from + i]) return false;
  return true;
}

static void one_operation() {
  int a = random_below(N), b = random_below(N);
  unsigned n = 1 + random_below(random_below(4) ? 40 : 1000), to = random_below(BYTES - n),
           from = random_below(BYTES - n);
  unsigned width = 1 + random_below(PITCH - 1), rows = 1 + random_below(8),
           x = random_below(PITCH - width), y = random_below(8), y2 = 20 + random_below(8);
  switch (random_below(6)) {
  case 0:
    CHECK(cudaMemcpy(memory[a] + to, host, n, cudaMemcpyHostToDevice));
    memset(&model[a][to], 1, n);
    break;
  case 1:
    CHECK(cudaMemset(memory[a] + to, 0, n));
    memset(&model[a][to], 1, n);
    break;
  case 2:
    if (a == b && to < from + n && from < to + n) break;  // CUDA does not say what that does
    CHECK(cudaMemcpy(memory[a] + to, memory[b] + from, n, cudaMemcpyDeviceToDevice));
    memmove(&model[a][to], &model[b][from], n);
    break;
  case 3:
    wg_mark_uninitialized(memory[a] + to, n);
    memset(&model[a][to], 0, n);
    break;
  case 4:
    CHECK(cudaMemcpy2D(memory[a] + y * PITCH + x, PITCH,
                       memory[b] + y2 * PITCH + (PITCH - width) / 2, PITCH, width, rows,
                       cudaMemcpyDeviceToDevice));
    for (unsigned r = 0; r < rows; r++)
      memmove(&model[a][(y + r) * PITCH + x], &model[b][(y2 + r) * PITCH + (PITCH - width) / 2],
              width);
    break;
  default:
    CHECK(cudaMemset2D(memory[a] + y * PITCH + x, PITCH, 1, width, rows));
    for (unsigned r = 0; r < rows; r++) memset(&model[a][(y + r) * PITCH + x], 1, width);
  }
}

int main() {
  for (int i = 0; i < N; i++) CHECK(cudaMalloc(&memory[i], BYTES));
  bool checked = !wg_is_initialized(memory[0], 1);
  wg_mark_initialized(memory[0], 1);
  bool exact = !wg_is_initialized(memory[0], 4);
  wg_mark_uninitialized(memory[0], 4);
  int wrong = 0;
  for (int i = 0; i < 3000 && checked; i++) {
    one_operation();
    int b = random_below(N);
    unsigned n = 1 + random_below(64), at = random_below(BYTES - n);
    bool said = wg_is_initialized(memory[b] + at, n), is = all(b, at, n);
    if (exact ? said != is : is && !said) wrong++;
  }
  for (int b = 0; b < N && checked; b++)
    for (unsigned i = 0; i < BYTES; i++) {
      bool said = wg_is_initialized(memory[b] + i, 1);
      if (exact ? said != model[b][i] : model[b][i] && !said) wrong++;
    }
  printf("%d wrong\n", wrong);
  return 0;
}
