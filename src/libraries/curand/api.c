// curandCreateGenerator and the functions that take a generator.
#include "libraries/curand/internal.h"

#include "cuda/abi.h"

static bool is_known(int type) {
  static const int types[] = {
      RNG_XORWOW,           RNG_MRG32K3A, RNG_MTGP32,  RNG_MT19937,
      RNG_PHILOX,           RNG_SOBOL32,  RNG_SOBOL64, RNG_SCRAMBLED_SOBOL32,
      RNG_SCRAMBLED_SOBOL64};
  for (unsigned i = 0; i < sizeof types / sizeof *types; i++)
    if (types[i] == type) return true;
  return false;
}

// Some generators need tables that only NVIDIA has.
static const char *missing_table(int type) {
  Generator g = {.type = type};
  if (type == RNG_MTGP32 && !mtgp32_is_there())
    return "MTGP32 needs curand_mtgp32dc_p_11213.h of a CUDA toolkit, and none was found; "
           "CUDA_HOME "
           "says where one is";
  if (is_scrambled(&g) && !sobol_has_tables(&g))
    return "scrambled Sobol sequences need the tables of NVIDIA's libcurand.so.10, and none was "
           "found; CUDA_HOME says where a toolkit is";
  return NULL;
}

static Status create(Generator **out, int type, bool on_host) {
  if (!out) return NOT_INITIALIZED;
  if (type == 100) type = RNG_XORWOW;
  if (type == 200) type = RNG_SOBOL32;
  if (!is_known(type)) return TYPE_ERROR;
  const char *missing = missing_table(type);
  if (missing) {
    warpgrind_library_services.unsupported("curandCreateGenerator", missing);
    return NOT_SUPPORTED;
  }
  if (!on_host && warpgrind_library_services.enter()) return NOT_INITIALIZED;
  Generator *g = calloc(1, sizeof *g);
  if (!g) return ALLOCATION_FAILED;
  *g = (Generator){.magic = GENERATOR_MAGIC, .type = type, .on_host = on_host, .dimensions = 1};
  pthread_mutex_init(&g->lock, NULL);
  *out = g;
  return SUCCESS;
}
EXPORT Status curandCreateGenerator(Generator **out, int type) { return create(out, type, false); }
EXPORT Status curandCreateGeneratorHost(Generator **out, int type) {
  return create(out, type, true);
}

static bool is_generator(const Generator *g) { return g && g->magic == GENERATOR_MAGIC; }

// Waits for earlier requests: their numbers must come from the generator as it was.
static void settle(const Generator *g) {
  if (!g->on_host && !warpgrind_library_services.enter()) cuStreamSynchronize((CUstream)g->stream);
}

EXPORT Status curandDestroyGenerator(Generator *g) {
  if (!is_generator(g)) return NOT_INITIALIZED;
  settle(g);
  g->magic = 0;
  pthread_mutex_destroy(&g->lock);
  generator_free_states(g);
  poisson_free(g->poisson);
  free(g);
  return SUCCESS;
}

EXPORT Status curandGetVersion(int *version) {
  *version = 10400;
  return SUCCESS;
}
EXPORT Status curandGetProperty(int type, int *value) {
  if (!value || type < 0 || type > 2) return OUT_OF_RANGE;
  *value = type == 0 ? 10 : type == 1 ? 4 : 0;
  return SUCCESS;
}

EXPORT Status curandSetStream(Generator *g, const void *stream) {
  if (!is_generator(g)) return NOT_INITIALIZED;
  g->stream = stream;
  return SUCCESS;
}

EXPORT Status curandSetPseudoRandomGeneratorSeed(Generator *g, unsigned long long seed) {
  if (!is_generator(g)) return NOT_INITIALIZED;
  if (is_sobol(g)) return TYPE_ERROR;
  settle(g);
  g->seed = seed;
  g->ready = false;
  return SUCCESS;
}

EXPORT Status curandSetGeneratorOffset(Generator *g, unsigned long long offset) {
  if (!is_generator(g)) return NOT_INITIALIZED;
  if (is_stream(g)) return TYPE_ERROR;
  settle(g);
  g->offset = offset;
  g->ready = false;
  return SUCCESS;
}

// The dynamic ordering depends on the GPU: here it is the default one.
EXPORT Status curandSetGeneratorOrdering(Generator *g, int ordering) {
  if (!is_generator(g)) return NOT_INITIALIZED;
  if (is_sobol(g)) return ordering == ORDERING_QUASI ? SUCCESS : OUT_OF_RANGE;
  if (ordering < 100 || ordering > 104) return OUT_OF_RANGE;
  if (ordering == ORDERING_SEEDED && g->type != RNG_XORWOW) return OUT_OF_RANGE;
  if (ordering == 100 && g->type == RNG_MT19937 && g->on_host) return OUT_OF_RANGE;
  settle(g);
  g->legacy = ordering == ORDERING_LEGACY;
  g->seeded = ordering == ORDERING_SEEDED;
  g->ready = false;
  return SUCCESS;
}

EXPORT Status curandSetQuasiRandomGeneratorDimensions(Generator *g, unsigned dimensions) {
  if (!is_generator(g)) return NOT_INITIALIZED;
  if (!is_sobol(g)) return TYPE_ERROR;
  if (dimensions < 1 || dimensions > MOST_DIMENSIONS) return OUT_OF_RANGE;
  if (dimensions > SOBOL_DIMENSIONS && !sobol_has_tables(g)) {
    warpgrind_library_services.unsupported(
        __func__, "Sobol sequences of more than 21 dimensions need the tables of NVIDIA's "
                  "libcurand.so.10, which is not installed");
    return NOT_SUPPORTED;
  }
  settle(g);
  g->dimensions = dimensions;
  g->ready = false;
  return SUCCESS;
}

EXPORT Status curandGenerateSeeds(Generator *g) {
  if (!is_generator(g)) return NOT_INITIALIZED;
  settle(g);
  return generator_prepare(g) ? SUCCESS : ALLOCATION_FAILED;
}

static Status generate(const char *name, Request r, Element e) {
  Generator *g = r.generator;
  if (!is_generator(g)) return NOT_INITIALIZED;
  if (is_sobol(g) && r.n % g->dimensions) {
    warpgrind_library_services.refused(name, "the number of results is no multiple of the number "
                                             "of dimensions");
    return LENGTH_NOT_MULTIPLE;
  }
  bool pairs = r.kind >= KIND_NORMAL && !is_sobol(g) && !is_stream(g);
  if (pairs && r.n % 2) {
    warpgrind_library_services.refused(name, "the number of normally distributed results is odd");
    return LENGTH_NOT_MULTIPLE;
  }
  if (!generator_prepare(g)) return ALLOCATION_FAILED;
  if (g->on_host) {
    distribution_fill(&r);
    return SUCCESS;
  }
  if (warpgrind_library_services.enter()) return LAUNCH_FAILURE;
  LibraryCall c = {.name = name,
                   .stream = g->stream,
                   .run = distribution_fill,
                   .arguments = &r,
                   .argument_bytes = sizeof r};
  Operand o = operand_of_vector("outputPtr", r.out, e, r.n, 1);
  o.access = OPERAND_WRITE;
  call_operand(&c, &o);
  return warpgrind_library_services.submit(&c) ? LAUNCH_FAILURE : SUCCESS;
}

static const Element word = {4, OPERAND_OTHER}, single = {4, OPERAND_F32}, wide = {8, OPERAND_F64};

EXPORT Status curandGenerate(Generator *g, unsigned *out, size_t n) {
  if (is_generator(g) && is_wide(g)) return TYPE_ERROR;
  return generate(__func__, (Request){g, KIND_BITS, out, n}, word);
}
EXPORT Status curandGenerateUniform(Generator *g, float *out, size_t n) {
  return generate(__func__, (Request){g, KIND_UNIFORM, out, n}, single);
}
EXPORT Status curandGenerateUniformDouble(Generator *g, double *out, size_t n) {
  return generate(__func__, (Request){g, KIND_UNIFORM_DOUBLE, out, n}, wide);
}
EXPORT Status curandGenerateNormal(Generator *g, float *out, size_t n, float mean,
                                   float deviation) {
  return generate(__func__, (Request){g, KIND_NORMAL, out, n, mean, deviation}, single);
}
EXPORT Status curandGenerateNormalDouble(Generator *g, double *out, size_t n, double mean,
                                         double deviation) {
  return generate(__func__, (Request){g, KIND_NORMAL_DOUBLE, out, n, mean, deviation}, wide);
}
EXPORT Status curandGenerateLogNormal(Generator *g, float *out, size_t n, float mean,
                                      float deviation) {
  return generate(__func__, (Request){g, KIND_LOG_NORMAL, out, n, mean, deviation}, single);
}
EXPORT Status curandGenerateLogNormalDouble(Generator *g, double *out, size_t n, double mean,
                                            double deviation) {
  return generate(__func__, (Request){g, KIND_LOG_NORMAL_DOUBLE, out, n, mean, deviation}, wide);
}
EXPORT Status curandGenerateLongLong(Generator *g, unsigned long long *out, size_t n) {
  if (is_generator(g) && !is_wide(g)) return TYPE_ERROR;
  return generate(__func__, (Request){g, KIND_LONG_BITS, out, n}, (Element){8, OPERAND_OTHER});
}
EXPORT Status curandGeneratePoisson(Generator *g, unsigned *out, size_t n, double lambda) {
  if (!(lambda > 0 && lambda <= 400000)) {
    warpgrind_library_services.refused(__func__, "lambda is not above 0 and up to 400000");
    return OUT_OF_RANGE;
  }
  return generate(__func__, (Request){g, KIND_POISSON, out, n, lambda}, word);
}
EXPORT Status curandGeneratePoissonMethod(Generator *g, unsigned *out, size_t n, double lambda,
                                          int method) {
  (void)method;  // NVIDIA's library, too, has a fixed one for each generator
  return curandGeneratePoisson(g, out, n, lambda);
}
