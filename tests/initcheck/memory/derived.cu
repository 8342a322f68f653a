// Data that kernels compute from unwritten memory, on its way to the host; and all that must be
// silent on that way.
#include "check.h"

__global__ void twice(int *out, const int *in, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[i] * 2;
}
__global__ void move(int *out, const int *in, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[i];
}
__global__ void fill(int *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = i;
}
// Through pointers that lie in memory themselves.
struct Buffers { int *out; const int *in; };
__global__ void indirect(const Buffers *b, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) b->out[i] = b->in[i] + 1;
}

static int host[1024];

int main() {
  int *in, *out, *other;
  CHECK(cudaMalloc(&in, 4096));
  CHECK(cudaMalloc(&out, 4096));
  CHECK(cudaMalloc(&other, 4096));
  CHECK(cudaMemcpy(in, host, 2048, cudaMemcpyHostToDevice));
  twice<<<4, 256>>>(out, in, 1024);
  CHECK(cudaMemcpy(host, out, 4096, cudaMemcpyDeviceToHost));  // finds: uninit-use bytes=2048
  CHECK(cudaMemcpy(host, out, 2048, cudaMemcpyDeviceToHost));
  // derived data goes where it is copied to
  CHECK(cudaMemcpy(other, out, 4096, cudaMemcpyDeviceToDevice));
  CHECK(cudaMemcpy(host, other, 4096, cudaMemcpyDeviceToHost));  // finds: uninit-use bytes=2048
  // a buffer that was wholly set can be spoiled all the same
  CHECK(cudaMemset(out, 0, 4096));
  CHECK(cudaMemcpy(host, out, 4096, cudaMemcpyDeviceToHost));
  twice<<<4, 256>>>(out, in, 1024);
  CHECK(cudaMemcpy(host, out, 4096, cudaMemcpyDeviceToHost));  // finds: uninit-use bytes=2048
  // ... and be made good again: by a set, by a copy, by a kernel
  CHECK(cudaMemset(out, 0, 4096));
  CHECK(cudaMemcpy(host, out, 4096, cudaMemcpyDeviceToHost));
  twice<<<4, 256>>>(out, in, 1024);
  CHECK(cudaMemcpy(out, host, 4096, cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(host, out, 4096, cudaMemcpyDeviceToHost));
  twice<<<4, 256>>>(out, in, 1024);
  fill<<<4, 256>>>(out, 1024);
  CHECK(cudaMemcpy(host, out, 4096, cudaMemcpyDeviceToHost));
  // a kernel that only moves is a copy: not computed, but not written either
  move<<<4, 256>>>(other, in, 1024);
  CHECK(cudaMemcpy(host, other, 4096, cudaMemcpyDeviceToHost));  // finds: uninit-copy bytes=2048
  // all is good now, and stays so from kernel to kernel
  fill<<<4, 256>>>(in, 1024);
  for (int i = 0; i < 3; i++) {
    twice<<<4, 256>>>(out, in, 1024);
    move<<<4, 256>>>(in, out, 1024);
    CHECK(cudaMemcpy(host, in, 4096, cudaMemcpyDeviceToHost));
  }
  // pointers in memory: the shadow is found all the same, and what is stored there is marked
  Buffers b = {out, in}, *d;
  int *unwritten;
  CHECK(cudaMalloc(&unwritten, 4096));
  CHECK(cudaMalloc(&d, sizeof b));
  CHECK(cudaMemcpy(d, &b, sizeof b, cudaMemcpyHostToDevice));
  CHECK(cudaMemset(out, 0, 4096));
  indirect<<<4, 256>>>(d, 1024);
  CHECK(cudaMemcpy(host, out, 4096, cudaMemcpyDeviceToHost));
  b.in = unwritten;
  CHECK(cudaMemcpy(d, &b, sizeof b, cudaMemcpyHostToDevice));
  indirect<<<4, 256>>>(d, 1024);
  CHECK(cudaMemcpy(host, out, 4096, cudaMemcpyDeviceToHost));  // finds: uninit-use bytes=4096
  twice<<<4, 256>>>(out, in, 1024);
  CHECK(cudaMemcpy(host, out, 4096, cudaMemcpyDeviceToHost));
  CHECK(cudaDeviceSynchronize());
  printf("done\n");
  return 0;
}
