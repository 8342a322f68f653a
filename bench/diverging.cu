// Kernels whose lanes go different ways or follow pointers: milliseconds of processor time of one
// launch, the best of ROUNDS (3). Each result is checked.
//   nvcc -O3 -fmad=false -gencode arch=compute_90,code=compute_90 -o diverging bench/diverging.cu
//   warpgrind --device=cpu --workers=1 --jit=off|always --tool=… -q -- ./diverging [ROUNDS]
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <vector>

enum { THREADS = 65536, BLOCK = 256, STEPS = 64, TURNS = 200, WIDTH = 256, MOST_IN_ROW = 15 };

__host__ __device__ static unsigned mandelbrot(unsigned i) {
  float cx = (float)(i % WIDTH) / 100 - 2, cy = (float)(i / WIDTH) / 128 - 1, x = 0, y = 0;
  unsigned n = 0;
  while (n < TURNS && x * x + y * y < 4) {
    float next = x * x - y * y + cx;
    y = 2 * x * y + cy;
    x = next;
    n++;
  }
  return n;
}
__global__ void escape(unsigned *out) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = mandelbrot(i);
}

__global__ void rows(const unsigned *start, const unsigned *column, const unsigned *value,
                     const unsigned *in, unsigned *out) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x, sum = 0;
  for (unsigned k = start[i]; k < start[i + 1]; k++) sum += value[k] * in[column[k]];
  out[i] = sum;
}

__global__ void branches(const unsigned *in, unsigned *out) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x, v = in[i], even = 0, odd = 0;
  for (unsigned k = 0; k < STEPS; k++) {
    if (v & 1) {
      odd += v ^ k;
      v = v * 3 + 1;
    } else {
      even += in[v % THREADS];
      v >>= 1;
    }
  }
  out[i] = even * 7 + odd;
}

__global__ void stores(const unsigned *in, unsigned *out) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x, v = in[i], sum = 0;
#pragma unroll 1
  for (unsigned k = 0; k < STEPS; k++) {
    if (v & 1) {
      v = v * 3 + 1;
      out[i] = sum += k;
    } else {
      v >>= 1;
      sum ^= v;
    }
  }
  out[i] = v + sum;
}

__global__ void list(const unsigned *next, unsigned *out) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x, at = i;
  for (unsigned k = 0; k < STEPS; k++) at = next[at];
  out[i] = at;
}

typedef std::vector<unsigned> Words;
static unsigned *upload(const Words &w) {
  unsigned *d;
  cudaMalloc(&d, w.size() * 4);
  cudaMemcpy(d, w.data(), w.size() * 4, cudaMemcpyHostToDevice);
  return d;
}

static double processor_ms() {
  struct timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return t.tv_sec * 1e3 + t.tv_nsec / 1e6;
}

template <class Launch>
static void measure(const char *name, int rounds, const Words &want, Launch launch) {
  unsigned *out = upload(Words(THREADS));
  double best = 1e9;
  for (int r = 0; r <= rounds; r++) {
    double start = processor_ms();
    launch(out);
    cudaDeviceSynchronize();
    double ms = processor_ms() - start;
    if (r && ms < best) best = ms;
  }
  Words got(THREADS);
  cudaMemcpy(got.data(), out, THREADS * 4, cudaMemcpyDeviceToHost);
  printf("%s %.2f %s\n", name, best, got == want ? "ok" : "WRONG");
}

int main(int argc, char **argv) {
  int rounds = argc > 1 ? atoi(argv[1]) : 3;
  unsigned seed = 1, n = 0;
  auto random = [&] { return (seed = seed * 1664525 + 1013904223) >> 8; };
  Words in(THREADS), start(1), column, value, next(THREADS), want(THREADS);
  for (auto &v : in) v = random();
  for (auto &v : next) v = random() % THREADS;
  for (unsigned i = 0; i < THREADS; i++) {
    for (n = random() % (MOST_IN_ROW + 1); n; n--) {
      column.push_back(random() % THREADS);
      value.push_back(random());
    }
    start.push_back((unsigned)column.size());
  }
  unsigned *din = upload(in), *dstart = upload(start), *dcolumn = upload(column),
           *dvalue = upload(value), *dnext = upload(next);
  const int blocks = THREADS / BLOCK;
  for (unsigned i = 0; i < THREADS; i++) want[i] = mandelbrot(i);
  measure("mandelbrot", rounds, want, [&](unsigned *o) { escape<<<blocks, BLOCK>>>(o); });
  for (unsigned i = 0; i < THREADS; i++) {
    want[i] = 0;
    for (unsigned k = start[i]; k < start[i + 1]; k++) want[i] += value[k] * in[column[k]];
  }
  measure("sparse", rounds, want,
          [&](unsigned *o) { rows<<<blocks, BLOCK>>>(dstart, dcolumn, dvalue, din, o); });
  for (unsigned i = 0; i < THREADS; i++) {
    unsigned v = in[i], even = 0, odd = 0;
    for (unsigned k = 0; k < STEPS; k++) {
      if (v & 1) {
        odd += v ^ k;
        v = v * 3 + 1;
      } else {
        even += in[v % THREADS];
        v >>= 1;
      }
    }
    want[i] = even * 7 + odd;
  }
  measure("branches", rounds, want, [&](unsigned *o) { branches<<<blocks, BLOCK>>>(din, o); });
  for (unsigned i = 0; i < THREADS; i++) {
    unsigned v = in[i], sum = 0;
    for (unsigned k = 0; k < STEPS; k++) {
      if (v & 1) {
        v = v * 3 + 1;
        sum += k;
      } else {
        v >>= 1;
        sum ^= v;
      }
    }
    want[i] = v + sum;
  }
  measure("stores", rounds, want, [&](unsigned *o) { stores<<<blocks, BLOCK>>>(din, o); });
  for (unsigned i = 0; i < THREADS; i++) {
    want[i] = i;
    for (unsigned k = 0; k < STEPS; k++) want[i] = next[want[i]];
  }
  measure("list", rounds, want, [&](unsigned *o) { list<<<blocks, BLOCK>>>(dnext, o); });
  return 0;
}
