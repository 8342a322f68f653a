// Every generator, ordering and distribution of cuRAND's host interface: what is exact as a hash,
// normally distributed numbers as a weighted mean. curand_generators.txt has the results of an
// H200; curand_generators.sh compares.
// nvcc: -lcurand
#include <curand.h>
#include <cstdio>
#include <cstring>
#include <vector>

static bool on_host;

static unsigned long long hash(const void *p, size_t bytes) {
  unsigned long long h = 1469598103934665603ull;
  for (size_t i = 0; i < bytes; i++) h = (h ^ ((const unsigned char *)p)[i]) * 1099511628211ull;
  return h;
}

enum { BITS, LONG_BITS, UNIFORM, UNIFORM_DOUBLE, NORMAL, NORMAL_DOUBLE, LOG_NORMAL, POISSON };
static const char *const kinds[] = {"bits",   "long bits",     "uniform",    "uniform double",
                                    "normal", "normal double", "log-normal", "Poisson"};
struct Case {
  int type, ordering, kind;
  size_t first, second;  // how many numbers two calls ask for
  unsigned long long seed, offset;
  int dimensions;
  double lambda;
};

static int generate(curandGenerator_t g, const Case &c, void *p, size_t n) {
  switch (c.kind) {
    case BITS: return curandGenerate(g, (unsigned *)p, n);
    case LONG_BITS: return curandGenerateLongLong(g, (unsigned long long *)p, n);
    case UNIFORM: return curandGenerateUniform(g, (float *)p, n);
    case UNIFORM_DOUBLE: return curandGenerateUniformDouble(g, (double *)p, n);
    case NORMAL: return curandGenerateNormal(g, (float *)p, n, 1, 2);
    case NORMAL_DOUBLE: return curandGenerateNormalDouble(g, (double *)p, n, 1, 2);
    case LOG_NORMAL: return curandGenerateLogNormal(g, (float *)p, n, 0, 1);
    default: return curandGeneratePoisson(g, (unsigned *)p, n, c.lambda);
  }
}

static void print(const Case &c, const std::vector<double> &numbers, size_t n) {
  const float *singles = (const float *)numbers.data();
  bool wide = c.kind == LONG_BITS || c.kind == UNIFORM_DOUBLE || c.kind == NORMAL_DOUBLE;
  if (c.kind == POISSON && c.lambda >= 2000) {  // of normal numbers, whose last bits are the GPU's
    unsigned long long sum = 0;
    for (size_t i = 0; i < n; i++) sum += ((const unsigned *)numbers.data())[i];
    printf(" mean %.2f\n", (double)sum / (double)n);
    return;
  }
  if (c.kind < NORMAL || c.kind == POISSON) {
    printf(" %016llx\n", hash(numbers.data(), n * (wide ? 8 : 4)));
    return;
  }
  double sum = 0;
  for (size_t i = 0; i < n; i++) sum += (i % 7 + 1) * (wide ? numbers[i] : (double)singles[i]);
  printf(" mean %.5f\n", sum / (double)n);
}

static void run(const Case &c) {
  size_t n = c.first + c.second;
  bool wide = c.kind == LONG_BITS || c.kind == UNIFORM_DOUBLE || c.kind == NORMAL_DOUBLE;
  std::vector<double> numbers(n + 1);
  curandGenerator_t g;
  char *p = (char *)numbers.data();
  int created = on_host ? curandCreateGeneratorHost(&g, (curandRngType)c.type)
                        : curandCreateGenerator(&g, (curandRngType)c.type);
  if (!on_host) cudaMalloc(&p, n * 8 + 8);
  if (!on_host) cudaMemset(p, 0, n * 8 + 8);
  int seed = c.type < 200 ? curandSetPseudoRandomGeneratorSeed(g, c.seed) : 0;
  int offset = c.offset ? curandSetGeneratorOffset(g, c.offset) : 0;
  int dimensions = c.dimensions ? curandSetQuasiRandomGeneratorDimensions(g, c.dimensions) : 0;
  int ordering = c.ordering ? curandSetGeneratorOrdering(g, (curandOrdering)c.ordering) : 0;
  int first = generate(g, c, p, c.first),
      second = generate(g, c, p + c.first * (wide ? 8 : 4), c.second);
  if (!on_host) {
    cudaMemcpy(numbers.data(), p, n * 8, cudaMemcpyDeviceToHost);
    cudaFree(p);
  }
  curandDestroyGenerator(g);
  printf("%d ordering %d %s", c.type, c.ordering, kinds[c.kind]);
  if (c.kind == POISSON) printf(" %g", c.lambda);
  if (c.dimensions) printf(" dimensions %d", c.dimensions);
  printf(" %zu+%zu seed %llu offset %llu: %d%d%d%d%d%d%d", c.first, c.second, c.seed, c.offset,
         created, seed, offset, dimensions, ordering, first, second);
  if (first || second) printf("\n");
  else print(c, numbers, n);
}

static const int pseudo[] = {CURAND_RNG_PSEUDO_XORWOW, CURAND_RNG_PSEUDO_MRG32K3A,
                             CURAND_RNG_PSEUDO_MTGP32, CURAND_RNG_PSEUDO_MT19937,
                             CURAND_RNG_PSEUDO_PHILOX4_32_10};
static const int quasi[] = {CURAND_RNG_QUASI_SOBOL32, CURAND_RNG_QUASI_SCRAMBLED_SOBOL32,
                            CURAND_RNG_QUASI_SOBOL64, CURAND_RNG_QUASI_SCRAMBLED_SOBOL64};

// How many numbers: fewer of MT19937, which takes seconds to make all of its generators.
static size_t count(int type, size_t n) { return type == CURAND_RNG_PSEUDO_MT19937 ? n / 20 : n; }

int main(int argc, char **argv) {
  on_host = argc > 1 && !strcmp(argv[1], "host");
  run({CURAND_RNG_PSEUDO_MT19937, 0, BITS, 70000, 5700001, 1, 0, 0, 0});
  for (int type : pseudo)
    for (int ordering : {0, 100, 101, 102, 103})
      run({type, ordering, BITS, count(type, 100000), count(type, 60001),
           5489 + 0x1234500000000ull, 0, 0, 0});
  for (int type : pseudo)
    for (int kind = BITS; kind <= LOG_NORMAL; kind++)
      if (kind != LONG_BITS)
        run({type, 0, kind, count(type, 70000), count(type, 50000), 42, 0, 0, 0});
  for (int type : pseudo) run({type, 0, UNIFORM, 1000, 24, 7, 1234, 0, 0});
  for (int type : pseudo)
    for (double lambda : {0.1, 5.0, 31.9, 64.0, 800.0, 2000.0, 5000.0})
      run({type, 0, POISSON, count(type, 20000), count(type, 3001), 42, 0, 0, lambda});
  for (int type : quasi)
    for (int kind = BITS; kind <= LOG_NORMAL; kind++)
      for (int dimensions : {1, 3, 40})
        run({type, 201, kind, 1000u * dimensions, 500u * dimensions, 0, 77, dimensions, 0});
  for (int type : quasi)
    for (double lambda : {0.1, 5.0, 31.9, 2000.0})
      run({type, 0, POISSON, 3000, 600, 0, 0, 3, lambda});
  run({CURAND_RNG_QUASI_SCRAMBLED_SOBOL32, 0, BITS, 40000, 20000, 0, 0, 20000, 0});
  return 0;
}
