// A launch in which one thread of the first block divides by zero: in fast mode its sink fires, and
// it runs again through the full body. With an argument the launch updates its input in place:
// running again would compute something else, so it must not. `graph`: so it does, with zeros, ten
// times by a graph. Run by launches.sh.
#include <cstdio>
#include <cstring>

__global__ void divides(float *out, const float *b, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float x = 3.0f / b[i];
  if (i & 1) out[i] = x;
  else out[i] = x * b[i] + 1.0f;
}

// The first launch is none of the graph's and has nothing to find; each of the graph's divides by
// zero in 100 threads.
static int in_graph(float *dev) {
  cudaStream_t stream;
  cudaGraph_t graph;
  cudaGraphExec_t exec;
  divides<<<1, 32>>>(dev, dev, 4);
  if (cudaDeviceSynchronize() != cudaSuccess || cudaStreamCreate(&stream) != cudaSuccess) return 1;
  cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
  cudaMemsetAsync(dev, 0, 400, stream);
  divides<<<1, 256, 0, stream>>>(dev, dev, 100);
  cudaStreamEndCapture(stream, &graph);
  if (cudaGraphInstantiate(&exec, graph, 0) != cudaSuccess) return 1;
  for (int i = 0; i < 10; i++)
    if (cudaGraphLaunch(exec, stream) != cudaSuccess ||
        cudaStreamSynchronize(stream) != cudaSuccess)
      return 1;
  return 0;
}

int main(int argc, char **argv) {
  const int n = 200000;
  static float b[n];
  for (int i = 0; i < n; i++) b[i] = i == 5 ? 0.0f : (float)(i % 7 + 1);
  float *out, *dev;
  if (cudaMalloc(&out, sizeof b) != cudaSuccess || cudaMalloc(&dev, sizeof b) != cudaSuccess)
    return 1;
  cudaMemcpy(dev, b, sizeof b, cudaMemcpyHostToDevice);
  if (argc > 1 && !strcmp(argv[1], "graph")) return in_graph(dev);
  divides<<<(n + 255) / 256, 256>>>(argc > 1 ? dev : out, dev, n);
  if (cudaMemcpy(b, argc > 1 ? dev : out, sizeof b, cudaMemcpyDeviceToHost) != cudaSuccess)
    return 1;
  unsigned sum = 0;
  for (int i = 0; i < n; i++) {
    unsigned bits;
    memcpy(&bits, &b[i], 4);
    sum = sum * 31 + bits;
  }
  printf("%08x\n", sum);
}
