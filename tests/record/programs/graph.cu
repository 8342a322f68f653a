// A graph that is launched several times: each time its kernels and copies are steps of their own.
#include <cstdio>

__global__ void add(int *v, int d) { v[threadIdx.x] += d; }

int main() {
  int *v, *w, h[32];
  cudaStream_t s;
  cudaGraph_t g;
  cudaGraphExec_t e;
  cudaMalloc(&v, 128);
  cudaMalloc(&w, 128);
  cudaMemset(v, 0, 128);
  cudaStreamCreate(&s);
  cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal);
  add<<<1, 32, 0, s>>>(v, 1);
  add<<<1, 32, 0, s>>>(v, 10);
  cudaMemcpyAsync(w, v, 128, cudaMemcpyDeviceToDevice, s);
  cudaMemsetAsync(w, 7, 64, s);
  add<<<1, 32, 0, s>>>(w, 0);
  cudaStreamEndCapture(s, &g);
  cudaGraphInstantiate(&e, g, 0);
  for (int i = 0; i < 3; i++) cudaGraphLaunch(e, s);
  cudaStreamSynchronize(s);
  cudaMemcpy(h, v, 128, cudaMemcpyDeviceToHost);
  printf("%d\n", h[3]);
}
