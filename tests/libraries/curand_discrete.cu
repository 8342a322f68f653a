// curandCreatePoissonDistribution: kernels draw from its tables. The numbers are those of an H200.
// nvcc: -lcurand
#include <curand.h>
#include <curand_kernel.h>
#include <cstdio>
#include <vector>

__global__ void draw(unsigned *out, int n, curandDiscreteDistribution_t distribution) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  curandStatePhilox4_32_10_t state;
  curand_init(1234, i, 0, &state);
  out[i] = curand_discrete(&state, distribution);
}

int main() {
  const int n = 20000;
  unsigned *out;
  cudaMalloc(&out, n * sizeof *out);
  for (double lambda : {0.3, 4.0, 77.7, 1500.0}) {
    curandDiscreteDistribution_t distribution;
    int created = curandCreatePoissonDistribution(lambda, &distribution);
    draw<<<(n + 127) / 128, 128>>>(out, n, distribution);
    std::vector<unsigned> numbers(n);
    cudaMemcpy(numbers.data(), out, n * sizeof *out, cudaMemcpyDeviceToHost);
    int destroyed = curandDestroyDistribution(distribution);
    unsigned long long hash = 1469598103934665603ull, sum = 0;
    for (unsigned x : numbers) {
      hash = (hash ^ x) * 1099511628211ull;
      sum += x;
    }
    printf("lambda %g: %d %d mean %.3f hash %016llx\n", lambda, created, destroyed,
           (double)sum / n, hash);
  }
  curandDiscreteDistribution_t none;
  printf("lambda -1: %d\n", curandCreatePoissonDistribution(-1, &none));
  cudaFree(out);
  return 0;
}
