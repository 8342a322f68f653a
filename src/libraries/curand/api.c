// curandCreateGenerator and the functions that take a generator.
#include "libraries/curand/internal.h"

#include "cuda/abi.h"

static Status create(Generator **out, int type, bool on_host) {
  if (!out) return NOT_INITIALIZED;
  if (type == 100) type = RNG_XORWOW;
  if (type == 200) type = RNG_SOBOL32;
  if (type != RNG_XORWOW && type != RNG_MRG32K3A && type != RNG_PHILOX && type != RNG_SOBOL32 &&
      type != RNG_SOBOL64) {
    bool known = type == 141 || type == 142 || type == 202 || type == 204;
    if (!known) return TYPE_ERROR;
    warpgrind_library_services.unsupported("curandCreateGenerator",
                                           "MT19937, MTGP32 and scrambled Sobol sequences are not "
                                           "served");
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

// Numbers that were asked for before come from the generator as it was.
static void settle(const Generator *g) {
  if (!g->on_host && !warpgrind_library_services.enter()) cuStreamSynchronize((CUstream)g->stream);
}

EXPORT Status curandDestroyGenerator(Generator *g) {
  if (!is_generator(g)) return NOT_INITIALIZED;
  settle(g);
  g->magic = 0;
  pthread_mutex_destroy(&g->lock);
  free(g->states);
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
  settle(g);
  g->offset = offset;
  g->ready = false;
  return SUCCESS;
}

// The dynamic ordering depends on the GPU: here it is the default one.
EXPORT Status curandSetGeneratorOrdering(Generator *g, int ordering) {
  if (!is_generator(g)) return NOT_INITIALIZED;
  if (ordering == 102 && g->type == RNG_XORWOW) {
    warpgrind_library_services.unsupported("curandSetGeneratorOrdering",
                                           "CURAND_ORDERING_PSEUDO_SEEDED is not served");
    return NOT_SUPPORTED;
  }
  if (is_sobol(g)) return ordering == 201 ? SUCCESS : OUT_OF_RANGE;
  if (ordering < 100 || ordering > 104) return OUT_OF_RANGE;
  settle(g);
  g->legacy = ordering == 103;
  g->ready = false;
  return SUCCESS;
}

EXPORT Status curandSetQuasiRandomGeneratorDimensions(Generator *g, unsigned dimensions) {
  if (!is_generator(g)) return NOT_INITIALIZED;
  if (!is_sobol(g)) return TYPE_ERROR;
  if (dimensions < 1 || dimensions > 20000) return OUT_OF_RANGE;
  if (dimensions > SOBOL_DIMENSIONS) {
    warpgrind_library_services.unsupported(__func__, "Sobol sequences have up to 21 dimensions");
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
  bool pairs = r.kind >= KIND_NORMAL && !is_sobol(g);
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
  if (is_generator(g) && g->type == RNG_SOBOL64) return TYPE_ERROR;
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
  if (is_generator(g) && g->type != RNG_SOBOL64) return TYPE_ERROR;
  return generate(__func__, (Request){g, KIND_LONG_BITS, out, n}, (Element){8, OPERAND_OTHER});
}
