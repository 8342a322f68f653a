// Kernels of machine code that are launched often: repeats MODE [ok]. Launches that repeat the
// accesses of a checked one run without patches; each mode changes something after many launches,
// so that the last one is wrong (with `ok` it stays right).
#include <cuda.h>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>

enum { N = 4096, TIMES = 60, MANY = 100 };
#define TRY(call) \
  do { \
    cudaError_t e_ = (call); \
    if (e_ != cudaSuccess) return printf("%s: %s\n", #call, cudaGetErrorString(e_)), 1; \
  } while (0)

__global__ void add(const float *in, float *out, float a, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] += a * in[i];
}
__global__ void gather(const int *index, const float *in, float *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[index[i]];
}
__global__ void by_flag(const int *index, float *out, int flag, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[flag ? index[i] : i] = 1;
}
__device__ int total;
__global__ void count(int *out) {
  if (threadIdx.x == 0) out[blockIdx.x] = atomicAdd(&total, 1);
}
struct Lists {
  float *list[MANY];
  int n;
};
__global__ void fill_lists(Lists l, float value) {
  if (threadIdx.x < l.n) l.list[blockIdx.x][threadIdx.x] = value;
}
__global__ void through_shared(const float *in, float *out, int n) {
  extern __shared__ float s[];
  for (int i = threadIdx.x; i < n; i += blockDim.x) s[i] = in[i];
  __syncthreads();
  for (int i = threadIdx.x; i < n; i += blockDim.x) out[i] = s[n - 1 - i];
}

static bool ok;
static float *in, *out;
static int *index_of;

static int allocate() {
  static int host[N];
  for (int i = 0; i < N; i++) host[i] = N - 1 - i;
  TRY(cudaMalloc(&in, N * sizeof *in));
  TRY(cudaMalloc(&out, N * sizeof *out));
  TRY(cudaMalloc(&index_of, N * sizeof *index_of));
  TRY(cudaMemset(in, 0, N * sizeof *in));
  TRY(cudaMemset(out, 0, N * sizeof *out));
  TRY(cudaMemcpy(index_of, host, sizeof host, cudaMemcpyHostToDevice));
  return 0;
}

static int print_sum() {
  static float host[N];
  double sum = 0;
  TRY(cudaDeviceSynchronize());
  TRY(cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost));
  for (int i = 0; i < N; i++) sum += host[i] * (i + 1);
  printf("sum %.1f\n", sum);
  return 0;
}

static void add_often(int n) {
  for (int i = 0; i < TIMES; i++) {
    add<<<N / 256, 256>>>(in, out, (float)i, n);
    cudaDeviceSynchronize();
  }
}

static int data() {
  for (int i = 0; i < TIMES; i++) {
    gather<<<N / 256, 256>>>(index_of, in, out, N);
    TRY(cudaDeviceSynchronize());
  }
  int far = ok ? 5 : N + 3;
  TRY(cudaMemcpy(index_of + 7, &far, sizeof far, cudaMemcpyHostToDevice));
  gather<<<N / 256, 256>>>(index_of, in, out, N);
  return 0;
}

static int number() {
  add_often(N);
  add<<<N / 256 + 1, 256>>>(in, out, 1, ok ? N : N + 1);
  return 0;
}

// The same address, with less memory.
static int smaller() {
  add_often(N);
  TRY(cudaFree(out));
  TRY(cudaMalloc(&out, (ok ? N : N - 1) * sizeof *out));
  TRY(cudaMemset(out, 0, (N - 1) * sizeof *out));
  add<<<N / 256, 256>>>(in, out, 1, N);
  float last;
  TRY(cudaMemcpy(&last, out, sizeof last, cudaMemcpyDeviceToHost));
  return 0;
}

static int freed() {
  add_often(N);
  float *was = out;
  TRY(cudaMalloc(&out, N * sizeof *out));
  TRY(cudaMemset(out, 0, N * sizeof *out));
  if (!ok) TRY(cudaFree(was));
  add<<<N / 256, 256>>>(in, was, 1, N);
  TRY(cudaDeviceSynchronize());
  return 0;
}

static int flag() {
  for (int i = 0; i < TIMES; i++) {
    by_flag<<<N / 256, 256>>>(index_of, out, i & 1, N);
    TRY(cudaDeviceSynchronize());
  }
  int far = ok ? 5 : N + 3;
  TRY(cudaMemcpy(index_of + 7, &far, sizeof far, cudaMemcpyHostToDevice));
  by_flag<<<N / 256, 256>>>(index_of, out, 0, N);
  by_flag<<<N / 256, 256>>>(index_of, out, 1, N);
  return 0;
}

// More allocations than the patches' first test knows.
static int lists() {
  Lists l = {{}, 256};
  for (int i = 0; i < MANY; i++) TRY(cudaMalloc(&l.list[i], 256 * sizeof(float)));
  for (int i = 0; i < TIMES; i++) {
    fill_lists<<<MANY, 256>>>(l, (float)i);
    TRY(cudaDeviceSynchronize());
  }
  if (!ok) l.n = 257;
  fill_lists<<<MANY, 288>>>(l, 1);
  TRY(cudaDeviceSynchronize());
  TRY(cudaMemcpy(out, l.list[MANY - 1], 256 * sizeof(float), cudaMemcpyDeviceToDevice));
  return 0;
}

// A variable of the module: it must exist once.
static int variable() {
  int *counts, host[TIMES], sum;
  TRY(cudaMalloc(&counts, TIMES * sizeof *counts));
  for (int i = 0; i < TIMES; i++) {
    count<<<1, 32>>>(counts + i);
    TRY(cudaDeviceSynchronize());
  }
  if (!ok) count<<<2, 32>>>(counts + TIMES);
  TRY(cudaMemcpy(host, counts, sizeof host, cudaMemcpyDeviceToHost));
  TRY(cudaMemcpyFromSymbol(&sum, total, sizeof sum));
  printf("last %d\n", host[TIMES - 1]);
  return 0;
}

// An attribute that is set late.
static int attribute() {
  int n = 1024;
  for (int i = 0; i < TIMES; i++) {
    through_shared<<<1, 256, n * sizeof(float)>>>(in, out, n);
    TRY(cudaDeviceSynchronize());
  }
  n = 24 * 1024;
  TRY(cudaFree(in));
  TRY(cudaFree(out));
  TRY(cudaMalloc(&in, n * sizeof *in));
  TRY(cudaMalloc(&out, n * sizeof *out));
  TRY(cudaMemset(in, 0, n * sizeof *in));
  TRY(cudaFuncSetAttribute(through_shared, cudaFuncAttributeMaxDynamicSharedMemorySize, 128 << 10));
  for (int i = 0; i < TIMES; i++) {
    through_shared<<<1, 256, n * sizeof(float)>>>(in, out, n);
    TRY(cudaDeviceSynchronize());
  }
  if (!ok) through_shared<<<1, 256, (n + 1) * sizeof(float)>>>(in, out, n + 1);
  return 0;
}

static int reset() {
  add_often(N);
  TRY(cudaDeviceReset());
  if (allocate()) return 1;
  add_often(N);
  add<<<N / 256 + 1, 256>>>(in, out, 1, ok ? N : N + 1);
  return 0;
}

static int threads() {
  std::vector<std::thread> list;
  for (int t = 0; t < 4; t++)
    list.emplace_back([=] {
      cudaStream_t s;
      float *mine;
      cudaStreamCreate(&s);
      cudaMalloc(&mine, N * sizeof *mine);
      cudaMemset(mine, 0, N * sizeof *mine);
      for (int i = 0; i < 20 * TIMES; i++) add<<<N / 256, 256, 0, s>>>(in, mine, 1, N);
      if (!ok && t == 3) add<<<N / 256 + 1, 256, 0, s>>>(in, mine, 1, N + 1);
      cudaStreamSynchronize(s);
    });
  for (std::thread &t : list) t.join();
  return 0;
}

static int graph() {
  cudaStream_t s;
  cudaGraph_t g;
  cudaGraphExec_t e;
  TRY(cudaStreamCreate(&s));
  TRY(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
  for (int i = 0; i < 5; i++) add<<<N / 256, 256, 0, s>>>(in, out, 1, N);
  if (!ok) add<<<N / 256 + 1, 256, 0, s>>>(in, out, 1, N + 1);
  TRY(cudaStreamEndCapture(s, &g));
  TRY(cudaGraphInstantiate(&e, g, 0));
  for (int i = 0; i < TIMES; i++) {
    TRY(cudaGraphLaunch(e, s));
    TRY(cudaStreamSynchronize(s));
  }
  return 0;
}

int main(int n, char **args) {
  static const struct {
    const char *name;
    int (*run)();
  } modes[] = {{"data", data},           {"number", number}, {"smaller", smaller},
               {"freed", freed},         {"flag", flag},     {"lists", lists},
               {"variable", variable},   {"reset", reset},   {"threads", threads},
               {"attribute", attribute}, {"graph", graph}};
  ok = n > 2;
  if (allocate()) return 1;
  for (auto &m : modes)
    if (n > 1 && !strcmp(args[1], m.name)) return m.run() || print_sum();
  return 2;
}
