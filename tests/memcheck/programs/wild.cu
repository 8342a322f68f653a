// Pointers to nowhere: null, null and an index, numbers that were never addresses. (One that could
// be one ends the launch: wild_end.cu.)
#include <cstdio>
#include <cstdlib>
#define OK(call) \
  do { \
    cudaError_t e = (call); \
    if (e != cudaSuccess) { \
      printf("%s\n", cudaGetErrorString(e)); \
      exit(1); \
    } \
  } while (0)
struct Node { int value; Node *next; };
__device__ __noinline__ int follow(const Node *p) { return p->value; }

__global__ void each(Node **list, int *out, const int *null) {
  int i = threadIdx.x, s = 0;
  if (i == 1) s += follow(list[0]);  // finds: oob-read count=1
  if (i == 2) s += follow(list[1]->next);  // finds: oob-read count=1
  if (i == 3) s += follow(list[2]);  // finds: oob-read count=1
  if (i == 4) s += null[i];  // finds: oob-read count=1
  if (i == 5) list[3]->value = 1;  // finds: oob-write count=1
  out[i] = s;
}

int main() {
  Node **list,
      *h[4] = {nullptr, nullptr, (Node *)0xdeadbeefdeadbeefull, (Node *)0x3ff0000000000000ull},
      zero = {};
  int *out;
  OK(cudaMalloc(&list, sizeof h)); OK(cudaMalloc(&h[1], sizeof zero)); OK(cudaMalloc(&out, 32 * 4));
  OK(cudaMemcpy(h[1], &zero, sizeof zero, cudaMemcpyDefault));
  OK(cudaMemcpy(list, h, sizeof h, cudaMemcpyDefault));
  each<<<1, 32>>>(list, out, nullptr);
  OK(cudaDeviceSynchronize());
  puts("done");
}
