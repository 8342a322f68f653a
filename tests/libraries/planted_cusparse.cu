// Planted mistakes in calls of cuSPARSE: the argument chooses one. Without it nothing is wrong.
// nvcc: -lcusparse
#include <cusparse.h>
#include <cstdio>
#include <cstring>
#include <vector>

enum { N = 16 };

template <class T> static T *device(const std::vector<T> &v) {
  T *p;
  cudaMalloc(&p, v.size() * sizeof(T));
  cudaMemcpy(p, v.data(), v.size() * sizeof(T), cudaMemcpyHostToDevice);
  return p;
}

int main(int argc, char **argv) {
  const char *mistake = argc > 1 ? argv[1] : "none";
  auto is = [&](const char *name) { return !strcmp(mistake, name); };
  std::vector<int> offsets(N + 1), columns(N);  // a diagonal
  for (int i = 0; i <= N; i++) offsets[i] = i;
  for (int i = 0; i < N; i++) columns[i] = i;
  if (is("column")) columns[5] = N;
  if (is("base")) offsets[N] = N + 1;  // offsets from 1 are declared as offsets from 0
  int *dev_offsets = device(offsets), *dev_columns = device(columns);
  std::vector<float> ones(N, is("infinite") ? 3e38f : 1);
  float *values = device(ones), *x = device(std::vector<float>(N, 2)),
        *y = device(std::vector<float>(N, 0)), *garbage;
  cudaMalloc(&garbage, N * sizeof(float));
  cusparseHandle_t h;
  cusparseCreate(&h);
  cusparseSpMatDescr_t a;
  cusparseDnVecDescr_t vx, vy;
  int count = is("short") ? N + 4 : N;  // more elements than the arrays have
  cusparseCreateCsr(&a, N, N, count, dev_offsets, dev_columns, values, CUSPARSE_INDEX_32I,
                    CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, CUDA_R_32F);
  cusparseCreateDnVec(&vx, is("sizes") ? N - 1 : N, is("unwritten") ? garbage : x, CUDA_R_32F);
  cusparseCreateDnVec(&vy, N, y, CUDA_R_32F);
  float one = 1, zero = 0;
  size_t bytes = 0;
  void *buffer;
  auto op = CUSPARSE_OPERATION_NON_TRANSPOSE;
  int status = 0;
  if (is("buffer") || is("solve")) {  // the buffer of the analysis is freed before the solve
    cusparseSpSVDescr_t plan;
    auto alg = CUSPARSE_SPSV_ALG_DEFAULT;
    cusparseSpSV_createDescr(&plan);
    cusparseSpSV_bufferSize(h, op, &one, a, vx, vy, CUDA_R_32F, alg, plan, &bytes);
    cudaMalloc(&buffer, bytes);
    cusparseSpSV_analysis(h, op, &one, a, vx, vy, CUDA_R_32F, alg, plan, buffer);
    if (is("buffer")) cudaFree(buffer);
    status = cusparseSpSV_solve(h, op, &one, a, vx, vy, CUDA_R_32F, alg, plan);
    cudaDeviceSynchronize();
    if (!is("buffer")) cudaFree(buffer);
    cusparseSpSV_destroyDescr(plan);
  } else {
    auto alg = CUSPARSE_SPMV_ALG_DEFAULT;
    cusparseSpMV_bufferSize(h, op, &one, a, vx, &zero, vy, CUDA_R_32F, alg, &bytes);
    cudaMalloc(&buffer, bytes);
    if (is("race")) {
      cudaStream_t s, t;
      cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking);
      cudaStreamCreateWithFlags(&t, cudaStreamNonBlocking);
      cudaDeviceSynchronize();
      cudaMemsetAsync(x, 0, N * sizeof(float), s);
      cusparseSetStream(h, t);
    }
    status = cusparseSpMV(h, op, &one, a, vx, &zero, vy, CUDA_R_32F, alg, buffer);
    cudaDeviceSynchronize();
    cudaFree(buffer);
  }
  int error = cudaDeviceSynchronize();
  printf("%s: status %d, error %d\n", mistake, status, error);
  cusparseDestroySpMat(a);
  cusparseDestroyDnVec(vx);
  cusparseDestroyDnVec(vy);
  cusparseDestroy(h);
  cudaFree(dev_offsets);
  cudaFree(dev_columns);
  cudaFree(values);
  cudaFree(x);
  cudaFree(y);
  cudaFree(garbage);
  return 0;
}
