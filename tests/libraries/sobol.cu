// Hashes of quasirandom numbers. sobol.txt has those of NVIDIA's host generators; sobol.sh
// compares.
// nvcc: -lcurand
#include <curand.h>
#include <cstdio>
#include <cstring>
#include <vector>

static unsigned long long hash(const void *p, size_t bytes) {
  unsigned long long h = 1469598103934665603ull;
  for (size_t i = 0; i < bytes; i++) h = (h ^ ((const unsigned char *)p)[i]) * 1099511628211ull;
  return h;
}

static int generate(curandGenerator_t g, int kind, void *p, size_t n) {
  switch (kind) {
    case 0: return curandGenerate(g, (unsigned *)p, n);
    case 1: return curandGenerateLongLong(g, (unsigned long long *)p, n);
    case 2: return curandGenerateUniform(g, (float *)p, n);
    case 3: return curandGenerateUniformDouble(g, (double *)p, n);
    case 4: return curandGenerateNormal(g, (float *)p, n, 1, 2);
    default: return curandGenerateNormalDouble(g, (double *)p, n, 1, 2);
  }
}

int main(int argc, char **argv) {
  bool host = argc > 1 && !strcmp(argv[1], "host");
  for (int type : {CURAND_RNG_QUASI_SOBOL32, CURAND_RNG_QUASI_SOBOL64})
    for (int dimensions : {1, 2, 21})
      for (int kind = 0; kind < 6; kind++) {
        size_t n = 5000 * dimensions, bytes = n * (kind % 2 ? 8 : 4);
        std::vector<char> out(bytes);
        void *p = out.data();
        curandGenerator_t g;
        int status = host ? curandCreateGeneratorHost(&g, (curandRngType)type)
                          : curandCreateGenerator(&g, (curandRngType)type);
        if (!host) cudaMalloc(&p, bytes);
        status |= curandSetQuasiRandomGeneratorDimensions(g, dimensions);
        status |= curandSetGeneratorOffset(g, 1000);
        int first = generate(g, kind, p, n), again = generate(g, kind, p, n);  // it goes on
        if (!host) {
          cudaMemcpy(out.data(), p, bytes, cudaMemcpyDeviceToHost);
          cudaFree(p);
        }
        curandDestroyGenerator(g);
        printf("%d dimensions %d kind %d: status %d %d %d", type, dimensions, kind, status, first,
               again);
        double sum = 0;
        for (size_t i = 0; i < n; i++)
          sum += (i % 7) * (kind == 4 ? ((float *)out.data())[i]
                            : kind == 5 ? ((double *)out.data())[i] : 0);
        if (first) printf("\n");
        else if (kind < 4) printf(" hash %016llx\n", hash(out.data(), bytes));
        else printf(" mean %.5f\n", sum / n);  // the last bits are those of a GPU's own functions
      }
  return 0;
}
