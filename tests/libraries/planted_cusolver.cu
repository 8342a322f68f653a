// Planted mistakes in calls of cuSOLVER: the argument chooses one. Without it, and with "half",
// nothing is wrong.
// nvcc: -lcusolver
#include <cusolverDn.h>
#include <cstdio>
#include <cstring>
#include <vector>

enum { N = 16 };

static float *device(const std::vector<float> &v) {
  float *p;
  cudaMalloc(&p, v.size() * sizeof(float));
  cudaMemcpy(p, v.data(), v.size() * sizeof(float), cudaMemcpyHostToDevice);
  return p;
}

int main(int argc, char **argv) {
  const char *mistake = argc > 1 ? argv[1] : "none";
  auto is = [&](const char *name) { return !strcmp(mistake, name); };
  std::vector<float> values(N * N);
  for (int i = 0; i < N * N; i++) values[i] = i % (N + 1) ? 1 : 2 * N;
  if (is("zero")) values[0] = 0;
  float *a = device(values), *b = device(std::vector<float>(N, 1)), *garbage, *work;
  int *pivots, *info, size = 0, status = 0;
  cusolverDnHandle_t h;
  cusolverDnCreate(&h);
  cudaMalloc(&garbage, N * N * sizeof(float));
  cudaMalloc(&pivots, N * sizeof(int));
  cudaMalloc(&info, sizeof(int));
  cusolverDnSgetrf_bufferSize(h, N, N, a, N, &size);
  cudaMalloc(&work, size * sizeof(float));
  if (is("leading"))  // columns are 20 apart: the last ones are not there
    status = cusolverDnSgetrf(h, N, N, a, 20, work, pivots, info);
  else if (is("workspace")) {  // bytes where elements are meant
    float *small;
    cudaMalloc(&small, size);
    status = cusolverDnSgetrf(h, N, N, a, N, small, pivots, info);
    cudaFree(small);
  } else if (is("arguments"))
    status = cusolverDnSpotrf(h, CUBLAS_FILL_MODE_LOWER, N, a, N, work, 0, info);
  else if (is("unwritten"))
    status = cusolverDnSgetrf(h, N, N, garbage, N, work, pivots, info);
  else if (is("pivots"))  // getrf was forgotten
    status = cusolverDnSgetrs(h, CUBLAS_OP_N, N, 1, a, N, pivots, b, N, info);
  else if (is("half")) {  // only the lower half is written and read: nothing is wrong
    for (int j = 0; j < N; j++)
      cudaMemcpy(garbage + j * (N + 1), a + j * (N + 1), (N - j) * sizeof(float),
                 cudaMemcpyDeviceToDevice);
    cusolverDnSpotrf(h, CUBLAS_FILL_MODE_LOWER, N, garbage, N, work, size, info);
    status = cusolverDnSpotrs(h, CUBLAS_FILL_MODE_LOWER, N, 1, garbage, N, b, N, info);
  } else if (is("zero")) {  // without pivots a zero on the diagonal: the solution is infinite
    cusolverDnSgetrf(h, N, N, a, N, work, NULL, info);
    status = cusolverDnSgetrs(h, CUBLAS_OP_N, N, 1, a, N, NULL, b, N, info);
  } else if (is("race")) {
    cudaStream_t s, t;
    cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking);
    cudaStreamCreateWithFlags(&t, cudaStreamNonBlocking);
    cudaDeviceSynchronize();
    cudaMemsetAsync(a, 0, N * N * sizeof(float), s);
    cusolverDnSetStream(h, t);
    status = cusolverDnSgetrf(h, N, N, a, N, work, pivots, info);
    cudaDeviceSynchronize();
  } else {
    cusolverDnSgetrf(h, N, N, a, N, work, pivots, info);
    status = cusolverDnSgetrs(h, CUBLAS_OP_N, N, 1, a, N, pivots, b, N, info);
  }
  int error = cudaDeviceSynchronize();
  printf("%s: status %d, error %d\n", mistake, status, error);
  cusolverDnDestroy(h);
  cudaFree(a);
  cudaFree(b);
  cudaFree(garbage);
  cudaFree(pivots);
  cudaFree(info);
  cudaFree(work);
  return 0;
}
