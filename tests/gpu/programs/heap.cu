// Memory allocated by kernels, kept from one launch to the next and freed by another.
// coverage: all
#include "gpu_test.h"

struct Node { int value; Node *next; };
__device__ Node *lists[64];
__global__ void build(int n) {
  Node *head = NULL;
  for (int i = 0; i < n; i++) {
    Node *x = (Node *)malloc(sizeof(Node));
    x->value = i * threadIdx.x;
    x->next = head;
    head = x;
  }
  lists[threadIdx.x] = head;
}
__global__ void sum(int *out) {
  int s = 0;
  for (Node *x = lists[threadIdx.x]; x;) { s += x->value; Node *next = x->next; free(x); x = next; }
  out[threadIdx.x] = s;
}
int main() {
  int *d, h[64];
  OK(cudaMalloc(&d, sizeof h));
  for (int n = 1; n <= 16; n *= 2) {
    build<<<1, 64>>>(n);
    sum<<<1, 64>>>(d);
    OK(cudaMemcpy(h, d, sizeof h, cudaMemcpyDefault));
    for (int i = 0; i < 64; i++) EXPECT(h[i] == i * n * (n - 1) / 2);
    show("sums", h, sizeof h);
  }
  return finish();
}
