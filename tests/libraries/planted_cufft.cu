// Planted mistakes in calls of cuFFT: the argument chooses one. Without it, and with "padded",
// nothing is wrong.
// nvcc: -lcufft
#include <cufft.h>
#include <cstdio>
#include <cstring>
#include <vector>

enum { N = 64, BATCH = 4 };

static float *device(int n, float value) {
  std::vector<float> v(n, value);
  float *p;
  cudaMalloc(&p, n * sizeof(float));
  cudaMemcpy(p, v.data(), n * sizeof(float), cudaMemcpyHostToDevice);
  return p;
}

int main(int argc, char **argv) {
  const char *mistake = argc > 1 ? argv[1] : "none";
  auto is = [&](const char *name) { return !strcmp(mistake, name); };
  float *real = device(N * BATCH, is("infinite") ? 3e38f : 1),
        *both = device((N + 2) * BATCH, 1), *garbage;
  cufftComplex *spectrum;
  cudaMalloc(&garbage, N * BATCH * sizeof(float));
  // the spectrum of N real numbers has N / 2 + 1 complex ones
  int kept = is("half") ? N / 2 : N / 2 + 1, length[] = {N}, status = 0;
  cudaMalloc(&spectrum, kept * BATCH * sizeof(cufftComplex));
  cufftHandle plan;
  if (is("stride")) {  // one number in two, in an array that has room for all without gaps
    int embed[] = {2 * N};
    cufftPlanMany(&plan, 1, length, embed, 2, 2 * N, embed, 1, N / 2 + 1, CUFFT_R2C, BATCH);
  } else {
    cufftPlan1d(&plan, N, is("type") ? CUFFT_C2R : CUFFT_R2C, BATCH);
  }
  if (is("race")) {
    cudaStream_t s, t;
    cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking);
    cudaStreamCreateWithFlags(&t, cudaStreamNonBlocking);
    cudaDeviceSynchronize();
    cudaMemsetAsync(real, 0, N * sizeof(float), s);
    cufftSetStream(plan, t);
  }
  if (is("padded"))  // in place each row has room for its spectrum
    status = cufftExecR2C(plan, both, (cufftComplex *)both);
  else
    status = cufftExecR2C(plan, is("unwritten") ? garbage : real, spectrum);
  int error = cudaDeviceSynchronize();
  printf("%s: status %d, error %d\n", mistake, status, error);
  cufftDestroy(plan);
  cudaFree(real);
  cudaFree(both);
  cudaFree(garbage);
  cudaFree(spectrum);
  return 0;
}
