// Accesses whose addresses only the data tell, often enough that a GPU samples them. In loops every
// second turn asks for one sector and every other for 32: a sample of each n-th would see one kind.
#include <cstdio>
#include <cstdlib>

enum { WORDS = 1 << 13, THREADS = 128, TURNS = 16000 };

__device__ int place(const int *index, int turn, int lane) {
  return index[(turn & 1) * 32 + lane & 63];
}

__global__ void often(const int *index, const int *from, int *to, int turns) {
  int sum = 0, lane = threadIdx.x & 31;
#pragma unroll 1
  for (int t = 0; t < turns; t++) sum += from[place(index, t, lane)];
  to[threadIdx.x] = sum;
}

// A predicate in front of the load, in half of the turns.
__global__ void guarded(const int *index, const int *from, int *to, int turns) {
  int sum = 0, lane = threadIdx.x & 31;
#pragma unroll 1
  for (int t = 0; t < turns; t++) {
    int v = 0;
    const int *at = from + place(index, 1, lane);
    asm volatile("{ .reg .pred p; setp.ne.s32 p, %2, 0; @p ld.global.s32 %0, [%1]; }"
                 : "+r"(v)
                 : "l"(at), "r"(t >> 1 & 1));
    sum += v;
  }
  to[threadIdx.x] = sum;
}

// Warps of 16 lanes: what the code tells of full ones does not help. Lanes are 16 words apart, so 8
// of them are in one bank.
__global__ void half(int *to, int turns) {
  __shared__ int words[32 * 16 + 64];
  int sum = 0;
#pragma unroll 1
  for (int t = 0; t < turns; t++) {
    words[threadIdx.x * 16 + (t & 31)] = t;
    __syncthreads();
    sum += words[threadIdx.x];
    __syncthreads();
  }
  to[threadIdx.x] = sum;
}

int main() {
  int *index, *from, *to, host[64];
  for (int i = 0; i < 64; i++) host[i] = i < 32 ? (i * 5 & 7) : (i * 13 & 31) * 64;
  cudaMalloc(&index, sizeof host);
  cudaMalloc(&from, WORDS * sizeof(int));
  cudaMalloc(&to, THREADS * sizeof(int));
  cudaMemset(from, 1, WORDS * sizeof(int));
  cudaMemcpy(index, host, sizeof host, cudaMemcpyHostToDevice);
  often<<<1, THREADS>>>(index, from, to, TURNS);
  guarded<<<1, THREADS>>>(index, from, to, TURNS);
  half<<<1, 16>>>(to, 2 * TURNS);
  if (cudaDeviceSynchronize() != cudaSuccess) return 1;
  puts("done");
  return 0;
}
