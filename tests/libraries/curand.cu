// Hashes of random numbers, of the generators' default and legacy ordering. curand.txt has those of
// NVIDIA's host generators; curand.sh compares.
// nvcc: -lcurand
#include <curand.h>
#include <cstdio>
#include <cstring>
#include <vector>

static const int N = 200000;

static unsigned long long hash(const void *p, size_t bytes) {
  unsigned long long h = 1469598103934665603ull;
  for (size_t i = 0; i < bytes; i++) h = (h ^ ((const unsigned char *)p)[i]) * 1099511628211ull;
  return h;
}

static int generate(curandGenerator_t g, int kind, void *p, size_t n) {
  switch (kind) {
    case 0: return curandGenerate(g, (unsigned *)p, n);
    case 1: return curandGenerateUniform(g, (float *)p, n);
    case 2: return curandGenerateUniformDouble(g, (double *)p, n);
    case 3: return curandGenerateNormal(g, (float *)p, n, 0, 1);
    default: return curandGenerateNormalDouble(g, (double *)p, n, 0, 1);
  }
}

int main(int argc, char **argv) {
  bool host = argc > 1 && !strcmp(argv[1], "host");
  // Normally distributed numbers of a GPU come from its own sine and logarithm: their last bits
  // differ, and their sum is compared.
  static const char *const kinds[] = {"bits", "uniform", "uniform double", "normal",
                                      "normal double"};
  static const int types[] = {CURAND_RNG_PSEUDO_XORWOW, CURAND_RNG_PSEUDO_MRG32K3A,
                              CURAND_RNG_PSEUDO_PHILOX4_32_10};
  for (int type : types)
    for (int kind = 0; kind < 5; kind++)
      for (int ordering : {101, 103}) {  // default, legacy
        curandGenerator_t g;
        size_t bytes = N * (kind == 2 || kind == 4 ? 8 : 4);
        std::vector<char> out(bytes);
        void *p = out.data();
        int status = host ? curandCreateGeneratorHost(&g, (curandRngType)type)
                          : curandCreateGenerator(&g, (curandRngType)type);
        if (!host) cudaMalloc(&p, bytes);
        status |= curandSetPseudoRandomGeneratorSeed(g, 1234567890123ull);
        status |= curandSetGeneratorOffset(g, 100000);
        status |= curandSetGeneratorOrdering(g, (curandOrdering)ordering);
        status |= generate(g, kind, p, N);
        if (!host) {
          cudaMemcpy(out.data(), p, bytes, cudaMemcpyDeviceToHost);
          cudaFree(p);
        }
        status |= curandDestroyGenerator(g);
        printf("%d %s ordering %d: ", type, kinds[kind], ordering);
        if (kind < 3) printf("status %d hash %016llx\n", status, hash(out.data(), bytes));
        else {
          double sum = 0;
          for (int i = 0; i < N; i++)
            sum += kind == 4 ? ((double *)out.data())[i] : ((float *)out.data())[i];
          printf("status %d mean %.5f\n", status, sum / N);
        }
      }
  return 0;
}
