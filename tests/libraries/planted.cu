// Planted mistakes in calls of cuBLAS: the argument chooses one. Without it, and with
// "half" and "ordered", nothing is wrong.
// nvcc: -lcublas
#include <cublas_v2.h>
#include <cstdio>
#include <cstring>
#include <vector>

static float *device(int n, float value) {
  std::vector<float> v(n, value);
  float *p;
  cudaMalloc(&p, n * sizeof(float));
  cudaMemcpy(p, v.data(), n * sizeof(float), cudaMemcpyHostToDevice);
  return p;
}

__global__ void fill(float *p) { p[threadIdx.x] = 1; }

// A kernel writes A in another stream; an event orders it, or nothing does.
static int beside_a_kernel(cublasHandle_t h, float *const matrices[3], int n, bool ordered) {
  float one = 1, zero = 0;
  cudaStream_t s, t;
  cudaEvent_t written;
  cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking);
  cudaStreamCreateWithFlags(&t, cudaStreamNonBlocking);
  cudaEventCreate(&written);
  cudaDeviceSynchronize();
  fill<<<1, n * n, 0, s>>>(matrices[0]);
  cudaEventRecord(written, s);
  if (ordered) cudaStreamWaitEvent(t, written, 0);
  cublasSetStream(h, t);
  return cublasSgemm(h, CUBLAS_OP_N, CUBLAS_OP_N, n, n, n, &one, matrices[0], n, matrices[1], n,
                     &zero, matrices[2], n);
}

int main(int argc, char **argv) {
  const int n = 16;
  const char *mistake = argc > 1 ? argv[1] : "none";
  bool leading = !strcmp(mistake, "leading"), batch = !strcmp(mistake, "batch"),
       unwritten = !strcmp(mistake, "unwritten"), nan = !strcmp(mistake, "nan"),
       race = !strcmp(mistake, "race"), half = !strcmp(mistake, "half");
  cublasHandle_t h;
  cublasCreate(&h);
  float *a = device(n * n * 4, 1), *b = device(n * n * 4, 2), *c = device(n * n * 4, 0);
  float *garbage;
  cudaMalloc(&garbage, n * n * sizeof(float));
  float one = 1, zero = 0;
  int status = 0;
  if (leading)  // columns are 80 apart: the last columns are not there
    status = cublasSgemm(h, CUBLAS_OP_N, CUBLAS_OP_N, n, n, n, &one, a, 80, b, n, &zero, c,
                         n);
  else if (batch)  // five matrices where four are
    status = cublasSgemmStridedBatched(h, CUBLAS_OP_N, CUBLAS_OP_N, n, n, n, &one, a, n, 0, b, n,
                                       n * n, &zero, c, n, n * n, 5);
  else if (!strcmp(mistake, "arguments"))
    status = cublasSgemm(h, CUBLAS_OP_N, CUBLAS_OP_N, n, n, n, &one, a, 8, b, n, &zero, c, n);
  else if (unwritten)
    status = cublasSgemm(h, CUBLAS_OP_N, CUBLAS_OP_N, n, n, n, &one, garbage, n, b, n, &zero, c, n);
  else if (half) {  // only the lower half is written and read, and beta is 0: nothing is wrong
    for (int j = 0; j < n; j++)
      cudaMemset(garbage + j + j * n, 0, (n - j) * sizeof(float));
    float *out;
    cudaMalloc(&out, n * n * sizeof(float));
    status = cublasSsymm(h, CUBLAS_SIDE_LEFT, CUBLAS_FILL_MODE_LOWER, n, n, &one, garbage, n, b, n,
                         &zero, out, n);
    std::vector<float> v(n * n);
    cudaMemcpy(v.data(), out, n * n * sizeof(float), cudaMemcpyDeviceToHost);
    printf("sum %g\n", v[0] + v[n * n - 1]);
    cudaFree(out);
  } else if (nan) {
    float large = 3e38f;
    cublasSscal(h, n * n, &large, a, 1);
    status = cublasSgemm(h, CUBLAS_OP_N, CUBLAS_OP_N, n, n, n, &one, a, n, b, n, &zero, c, n);
  } else if (race) {
    cudaStream_t s, t;
    cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking);
    cudaStreamCreateWithFlags(&t, cudaStreamNonBlocking);
    cudaDeviceSynchronize();
    cudaMemsetAsync(a, 0, n * n * sizeof(float), s);
    cublasSetStream(h, t);
    status = cublasSgemm(h, CUBLAS_OP_N, CUBLAS_OP_N, n, n, n, &one, a, n, b, n, &zero, c, n);
    cudaDeviceSynchronize();
  } else if (!strcmp(mistake, "kernel") || !strcmp(mistake, "ordered")) {
    float *const matrices[] = {a, b, c};
    status = beside_a_kernel(h, matrices, n, !strcmp(mistake, "ordered"));
  } else {
    status = cublasSgemm(h, CUBLAS_OP_N, CUBLAS_OP_N, n, n, n, &one, a, n, b, n, &zero, c, n);
  }
  int error = cudaDeviceSynchronize();
  printf("%s: status %d, error %d\n", mistake, status, error);
  cublasDestroy(h);
  cudaFree(a);
  cudaFree(b);
  cudaFree(c);
  cudaFree(garbage);
  return 0;
}
