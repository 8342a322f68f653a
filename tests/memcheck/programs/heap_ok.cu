// The device's heap used well: by one kernel, handed to the next, freed by a third; many blocks,
// large ones, no memory left and seen to.
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
__device__ Node *heads[64];

__global__ void build(int n) {
  int i = threadIdx.x;
  for (int k = 0; k < n; k++) {
    Node *node = new Node;
    node->value = i + k;
    node->next = heads[i];
    heads[i] = node;
  }
}
__global__ void sum(int *out) {
  int s = 0;
  for (const Node *p = heads[threadIdx.x]; p; p = p->next) s += p->value;
  out[threadIdx.x] = s;
}
__global__ void drop() {
  while (Node *p = heads[threadIdx.x]) {
    heads[threadIdx.x] = p->next;
    delete p;
  }
}
__global__ void scratch(int *out, int n) {
  int i = threadIdx.x;
  for (int round = 1; round < 20; round++) {
    double2 *a = (double2 *)malloc(n * round * sizeof(double2));
    if (!a) continue;
    for (int k = 0; k < n * round; k++) a[k] = {1.0 * k, 2.0 * i};
    out[i] += (int)a[n * round - 1].x;
    free(a);
  }
  free(nullptr);
}

int main() {
  int *out, h[64];
  OK(cudaMalloc(&out, sizeof h));
  for (int round = 0; round < 2; round++) {
    build<<<1, 64>>>(20);
    sum<<<1, 64>>>(out);
    scratch<<<1, 64>>>(out, 10);
    drop<<<1, 64>>>();
  }
  OK(cudaMemcpy(h, out, sizeof h, cudaMemcpyDefault));
  for (int i = 0; i < 64; i++) printf("%d\n", h[i]);
}
