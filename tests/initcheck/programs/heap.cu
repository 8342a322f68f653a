// Memory from malloc and new in device code was written by nobody.
// says: heap.cu:{walked} in walk(int*)
// says: from memory that malloc returned at tests/initcheck/programs/heap.cu:{made} in make()
// says: is in the device's heap
#include <cstdio>
#include <cuda_runtime.h>

struct Node { int key; Node *next; };
__device__ Node *list[64];

__global__ void decide(int *out) {
  int *p = (int *)malloc(16 * sizeof(int));
  p[0] = 3;
  if (p[threadIdx.x % 8 + 1] > 0)           // finds: uninit-use (a branch)
    out[threadIdx.x] = 1;
  free(p);
}

__global__ void written_before(int *out) {
  int *p = (int *)malloc(64);
  for (int i = 0; i < 16; i++) p[i] = i;
  out[threadIdx.x] = p[threadIdx.x % 16];
  free(p);
  __syncthreads();
  p = (int *)malloc(64);
  // finds-next: uninit-use (what was written there belonged to another block of memory)
  if (p[5] == 5) out[threadIdx.x] = 2;
  free(p);
}

__global__ void make() {
  Node *n = new Node;  // label: made
  n->key = threadIdx.x;
  list[threadIdx.x] = n;
}
__global__ void walk(int *out) {
  Node *n = list[threadIdx.x];
  for (int i = 0; n && i < 1; n = n->next, i++) out[threadIdx.x] += n->key;  // label: walked
  if (n) out[threadIdx.x] = -1;             // finds: uninit-use (`next` of another launch's block)
}

__global__ void give(float *out) {
  float *p = new float[4];
  p[0] = p[1] = p[2] = 1;
  out[threadIdx.x] = p[0] + p[3];
  delete[] p;
}

__global__ void index(int *out, const int *table) {
  char *p = (char *)malloc(13);
  for (int i = 0; i < 12; i++) p[i] = 1;
  out[threadIdx.x] = table[p[12] & 15];     // finds: uninit-use (an address)
  free(p);
}

int main() {
  int *out, *table, host[64];
  float *sums, copy[64];
  cudaMalloc(&out, sizeof host);
  cudaMalloc(&table, sizeof host);
  cudaMalloc(&sums, sizeof copy);
  cudaMemset(out, 0, sizeof host);
  cudaMemset(table, 0, sizeof host);
  decide<<<1, 32>>>(out);
  written_before<<<1, 32>>>(out);
  make<<<1, 64>>>();
  walk<<<1, 64>>>(out);
  give<<<1, 64>>>(sums);
  // finds-next: uninit-use (the result)
  cudaMemcpy(copy, sums, sizeof copy, cudaMemcpyDeviceToHost);
  index<<<1, 64>>>(out, table);
  printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
}
