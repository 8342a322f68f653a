// Two streams write to one buffer, and each to one of its own. With `ordered` an event orders them;
// with `copy` one of the writers is a copy. With `later` there is one stream only at first: what
// was written in it is not looked at yet when there are others.
#include <cstdio>
#include <cstring>

__global__ void add(int *shared_one, int *own, int n, int by) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  shared_one[i] = by;
  own[i] = i + by;
}

int main(int argc, char **argv) {
  bool ordered = argc > 1 && !strcmp(argv[1], "ordered"),
       copy = argc > 1 && !strcmp(argv[1], "copy");
  const int n = 4096;
  int *both, *left, *right;
  cudaMalloc(&both, n * 4);
  cudaMalloc(&left, n * 4);
  cudaMalloc(&right, n * 4);
  cudaMemset(both, 0, n * 4);
  cudaDeviceSynchronize();
  if (argc > 1 && !strcmp(argv[1], "later")) {
    add<<<16, 256>>>(both, left, n, 3);
    add<<<16, 256>>>(right, right, n, 4);
    cudaDeviceSynchronize();
  }
  cudaStream_t a, b;
  cudaEvent_t done;
  cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking);
  cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking);
  cudaEventCreate(&done);
  add<<<16, 256, 0, a>>>(both, left, n, 1);
  cudaEventRecord(done, a);
  if (ordered) cudaStreamWaitEvent(b, done, 0);
  if (copy) cudaMemsetAsync(both, 7, n * 4, b);
  else add<<<16, 256, 0, b>>>(both, right, n, 2);
  cudaDeviceSynchronize();
  printf("done\n");
  return 0;
}
