// cuFFT on the virtual device: plans, and their execution as work of a stream.
#include <complex.h>
#undef I
#include <pthread.h>

#include "cuda/abi.h"
#include "libraries/common/call.h"
#include "libraries/cufft/fft.h"
#include "libraries/cufft/plan.h"

enum { R2C = 0x2a, C2R = 0x2c, C2C = 0x29, D2Z = 0x6a, Z2D = 0x6c, Z2Z = 0x69 };
enum { PLANS = 4096, MOST = 3 };

// One side of a transform: element (i, j, k) of transform b is at
// b * dist + ((i * embed[1] + j) * embed[2] + k) * stride.
typedef struct Layout {
  uint64_t embed[MOST], stride, dist;
  bool basic;  // the program gave none
} Layout;
typedef struct Plan {
  bool used, made;
  int rank, type;
  uint64_t n[MOST], batch;
  Layout in, out;
  const void *stream;
} Plan;

static Plan plans[PLANS];  // a handle is a number from 1 on
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static Result refuse(const char *call, const char *why, Result r) {
  warpgrind_library_services.refused(call, why);
  return r;
}

static Plan *plan_of(int handle) {
  return handle > 0 && handle < PLANS && plans[handle].used ? &plans[handle] : NULL;
}

static bool is_double(int type) { return type & 0x40; }
static bool is_type(int t) {
  return t == R2C || t == C2R || t == C2C || t == D2Z || t == Z2D || t == Z2Z;
}
static bool reads_real(int t) { return t == R2C || t == D2Z; }
static bool writes_real(int t) { return t == C2R || t == Z2D; }

// --- plans ---

EXPORT Result cufftCreate(int *handle) {
  if (!handle) return INVALID_VALUE;
  if (warpgrind_library_services.enter()) return SETUP_FAILED;
  Result r = ALLOC_FAILED;
  pthread_mutex_lock(&lock);
  for (int i = 1; i < PLANS && r; i++)
    if (!plans[i].used) {
      plans[i] = (Plan){.used = true};
      *handle = i;
      r = SUCCESS;
    }
  pthread_mutex_unlock(&lock);
  return r;
}

void plan_free(int handle) { plans[handle].used = false; }
bool plan_exists(int handle) { return plan_of(handle) != NULL; }

EXPORT Result cufftDestroy(int handle) {
  if (!plan_exists(handle)) return INVALID_PLAN;
  cuCtxSynchronize();
  plan_free(handle);
  return SUCCESS;
}

typedef struct Asked {
  const char *call;
  int rank, type;
  const long long *n, *inembed, *onembed;
  long long istride, idist, ostride, odist, batch;
} Asked;

static void layout_of(Layout *l, const Asked *a, const long long *embed, long long stride,
                      long long dist) {
  l->basic = !embed;
  if (!embed) return;
  for (int d = 0; d < a->rank; d++) l->embed[d] = (uint64_t)embed[d];
  l->stride = (uint64_t)stride;
  l->dist = (uint64_t)dist;
}

static Result make(int handle, const Asked *a, size_t *work) {
  Plan *p = plan_of(handle);
  if (!p || p->made) return INVALID_PLAN;
  if (!is_type(a->type)) return refuse(a->call, "the type of the transform is none", INVALID_TYPE);
  if (a->rank < 1 || a->rank > MOST)
    return refuse(a->call, "a transform has one to three dimensions", INVALID_VALUE);
  if (a->batch < 1) return refuse(a->call, "the number of transforms is below 1", INVALID_SIZE);
  for (int d = 0; d < a->rank; d++)
    if (a->n[d] < 1) return refuse(a->call, "a dimension is below 1", INVALID_SIZE);
  p->rank = a->rank;
  p->type = a->type;
  p->batch = (uint64_t)a->batch;
  for (int d = 0; d < a->rank; d++) p->n[d] = (uint64_t)a->n[d];
  layout_of(&p->in, a, a->inembed, a->istride, a->idist);
  layout_of(&p->out, a, a->onembed, a->ostride, a->odist);
  p->made = true;
  if (work) *work = 0;  // the transform has its own memory
  return SUCCESS;
}

static Result make_new(int *handle, const Asked *a) {
  Result r = cufftCreate(handle);
  if (r) return r;
  r = make(*handle, a, NULL);
  if (r) cufftDestroy(*handle);
  return r;
}

#define DIMENSIONS(...) ((const long long[]){__VA_ARGS__})
EXPORT Result cufftPlan1d(int *h, int nx, int type, int batch) {
  return make_new(h, &(Asked){__func__, 1, type, DIMENSIONS(nx), .batch = batch});
}
EXPORT Result cufftPlan2d(int *h, int nx, int ny, int type) {
  return make_new(h, &(Asked){__func__, 2, type, DIMENSIONS(nx, ny), .batch = 1});
}
EXPORT Result cufftPlan3d(int *h, int nx, int ny, int nz, int type) {
  return make_new(h, &(Asked){__func__, 3, type, DIMENSIONS(nx, ny, nz), .batch = 1});
}
EXPORT Result cufftMakePlan1d(int h, int nx, int type, int batch, size_t *work) {
  return make(h, &(Asked){__func__, 1, type, DIMENSIONS(nx), .batch = batch}, work);
}
EXPORT Result cufftMakePlan2d(int h, int nx, int ny, int type, size_t *work) {
  return make(h, &(Asked){__func__, 2, type, DIMENSIONS(nx, ny), .batch = 1}, work);
}
EXPORT Result cufftMakePlan3d(int h, int nx, int ny, int nz, int type, size_t *work) {
  return make(h, &(Asked){__func__, 3, type, DIMENSIONS(nx, ny, nz), .batch = 1}, work);
}
EXPORT Result cufftMakePlanMany64(int h, int rank, long long *n, long long *inembed,
                                  long long istride, long long idist, long long *onembed,
                                  long long ostride, long long odist, int type, long long batch,
                                  size_t *work) {
  if (!n) return INVALID_VALUE;
  if (!inembed || !onembed) inembed = onembed = NULL;
  return make(h,
              &(Asked){"cufftMakePlanMany", rank, type, n, inembed, onembed, istride, idist,
                       ostride, odist, batch},
              work);
}
EXPORT Result cufftMakePlanMany(int h, int rank, int *n, int *inembed, int istride, int idist,
                                int *onembed, int ostride, int odist, int type, int batch,
                                size_t *work) {
  long long wide[3][MOST] = {{0}};
  if (!n || rank < 1 || rank > MOST) return INVALID_VALUE;
  for (int d = 0; d < rank; d++) {
    wide[0][d] = n[d];
    wide[1][d] = inembed ? inembed[d] : 0;
    wide[2][d] = onembed ? onembed[d] : 0;
  }
  return cufftMakePlanMany64(h, rank, wide[0], inembed ? wide[1] : NULL, istride, idist,
                             onembed ? wide[2] : NULL, ostride, odist, type, batch, work);
}
// cudaDataType of input and output: the plan of the older functions, 0 where there is none.
static int type_of(int input, int output, int execution) {
  enum { REAL_32 = 0, REAL_64 = 1, COMPLEX_32 = 4, COMPLEX_64 = 5 };
  if (input == COMPLEX_32 && output == COMPLEX_32 && execution == COMPLEX_32) return C2C;
  if (input == COMPLEX_64 && output == COMPLEX_64 && execution == COMPLEX_64) return Z2Z;
  if (input == REAL_32 && output == COMPLEX_32 && execution == COMPLEX_32) return R2C;
  if (input == REAL_64 && output == COMPLEX_64 && execution == COMPLEX_64) return D2Z;
  if (input == COMPLEX_32 && output == REAL_32 && execution == COMPLEX_32) return C2R;
  if (input == COMPLEX_64 && output == REAL_64 && execution == COMPLEX_64) return Z2D;
  return 0;
}
EXPORT Result cufftXtMakePlanMany(int h, int rank, long long *n, long long *inembed,
                                  long long istride, long long idist, int input, long long *onembed,
                                  long long ostride, long long odist, int output, long long batch,
                                  size_t *work, int execution) {
  int type = type_of(input, output, execution);
  if (!type) {
    warpgrind_library_services.unsupported(__func__, "only single and double precision are served");
    return NOT_SUPPORTED;
  }
  return cufftMakePlanMany64(h, rank, n, inembed, istride, idist, onembed, ostride, odist, type,
                             batch, work);
}
EXPORT Result cufftPlanMany(int *h, int rank, int *n, int *inembed, int istride, int idist,
                            int *onembed, int ostride, int odist, int type, int batch) {
  Result r = cufftCreate(h);
  if (r) return r;
  r = cufftMakePlanMany(*h, rank, n, inembed, istride, idist, onembed, ostride, odist, type, batch,
                        NULL);
  if (r) cufftDestroy(*h);
  return r;
}

EXPORT Result cufftSetStream(int handle, const void *stream) {
  Plan *p = plan_of(handle);
  if (!p) return INVALID_PLAN;
  p->stream = stream;
  return SUCCESS;
}
EXPORT Result cufftGetVersion(int *version) {
  if (!version) return INVALID_VALUE;
  *version = library_major * 1000;
  return SUCCESS;
}
EXPORT Result cufftGetProperty(int type, int *value) {
  if (!value || type < 0 || type > 2) return INVALID_VALUE;
  *value = type ? 0 : library_major;
  return SUCCESS;
}

// --- execution ---

typedef struct Transform {
  Plan plan;  // with both layouts filled in
  const void *from;
  void *to;
  int sign;
} Transform;

static uint64_t last_of(const Plan *p, bool half) {
  uint64_t n = p->n[p->rank - 1];
  return half ? n / 2 + 1 : n;
}

// Real data of a transform in place are padded to the room of the complex ones.
static void fill_layout(Layout *l, const Plan *p, bool real, bool half, bool in_place) {
  if (!l->basic) return;
  for (int d = 0; d < p->rank; d++) l->embed[d] = p->n[d];
  uint64_t last = real && in_place ? 2 * last_of(p, true) : last_of(p, half);
  l->embed[p->rank - 1] = last;
  l->stride = 1;
  l->dist = 1;
  for (int d = 0; d < p->rank; d++) l->dist *= l->embed[d];
}

static uint64_t index_of(const Layout *l, const Plan *p, uint64_t batch, const uint64_t *at) {
  uint64_t i = at[0];
  for (int d = 1; d < p->rank; d++) i = i * l->embed[d] + at[d];
  return batch * l->dist + i * l->stride;
}

static Operand operand_of(const char *name, const void *p, const Plan *plan, const Layout *l,
                          bool real, bool half) {
  uint64_t at[MOST] = {0}, element = (real ? 1u : 2u) * (is_double(plan->type) ? 8u : 4u);
  for (int d = 0; d < plan->rank; d++) at[d] = plan->n[d] - 1;
  at[plan->rank - 1] = last_of(plan, half) - 1;
  Element e = {(uint32_t)element, is_double(plan->type) ? OPERAND_F64 : OPERAND_F32};
  Operand o = operand_of_vector(name, p, e, index_of(l, plan, plan->batch - 1, at) + 1, 1);
  o.access = OPERAND_READ;
  bool gaps = !l->basic || (real && l->embed[plan->rank - 1] != plan->n[plan->rank - 1]);
  if (gaps) o.access |= OPERAND_PARTLY;
  return o;
}

static double _Complex load(const Transform *t, uint64_t i, bool real) {
  if (is_double(t->plan.type))
    return real ? ((const double *)t->from)[i] : ((const double _Complex *)t->from)[i];
  return real ? ((const float *)t->from)[i] : ((const float _Complex *)t->from)[i];
}

static void store(const Transform *t, uint64_t i, double _Complex x, bool real) {
  bool wide = is_double(t->plan.type);
  if (real && wide) ((double *)t->to)[i] = creal(x);
  else if (real) ((float *)t->to)[i] = (float)creal(x);
  else if (wide) ((double _Complex *)t->to)[i] = x;
  else ((float _Complex *)t->to)[i] = (float _Complex)x;
}

static void position(const Plan *p, uint64_t i, uint64_t *at) {
  for (int d = p->rank - 1; d >= 0; d--) {
    at[d] = i % p->n[d];
    i /= p->n[d];
  }
}

// The half of a complex result that is not stored: the conjugate of its mirror image.
static double _Complex load_half(const Transform *t, uint64_t batch, uint64_t *at) {
  const Plan *p = &t->plan;
  int last = p->rank - 1;
  bool mirrored = at[last] > p->n[last] / 2;
  for (int d = 0; mirrored && d <= last; d++) at[d] = (p->n[d] - at[d]) % p->n[d];
  double _Complex x = load(t, index_of(&p->in, p, batch, at), false);
  return mirrored ? conj(x) : x;
}

static void run(void *arguments) {
  const Transform *t = arguments;
  const Plan *p = &t->plan;
  uint64_t all = 1, at[MOST];
  for (int d = 0; d < p->rank; d++) all *= p->n[d];
  double _Complex *x = malloc(all * sizeof *x);
  for (uint64_t b = 0; x && b < p->batch; b++) {
    for (uint64_t i = 0; i < all; i++) {
      position(p, i, at);
      x[i] = writes_real(p->type) ? load_half(t, b, at)
                                  : load(t, index_of(&p->in, p, b, at), reads_real(p->type));
    }
    if (!fft_box(x, p->n, p->rank, t->sign)) break;
    for (uint64_t i = 0; i < all; i++) {
      position(p, i, at);
      if (reads_real(p->type) && at[p->rank - 1] > p->n[p->rank - 1] / 2) continue;
      store(t, index_of(&p->out, p, b, at), x[i], writes_real(p->type));
    }
  }
  free(x);
}

static Result execute(const char *call, int handle, int type, const void *from, void *to,
                      int sign) {
  const Plan *p = plan_of(handle);
  if (!p || !p->made) return refuse(call, "the plan is not one, or was not made", INVALID_PLAN);
  if (p->type != type) return refuse(call, "the plan is one of another type", INVALID_TYPE);
  if (sign != 1 && sign != -1) return refuse(call, "the direction is none", INVALID_VALUE);
  if (!from || !to) return refuse(call, "a pointer is null", INVALID_VALUE);
  Transform t = {*p, from, to, sign};
  bool in_place = from == to;
  fill_layout(&t.plan.in, p, reads_real(type), writes_real(type), in_place);
  fill_layout(&t.plan.out, p, writes_real(type), reads_real(type), in_place);
  LibraryCall c = {
      .name = call, .stream = p->stream, .run = run, .arguments = &t, .argument_bytes = sizeof t};
  Operand in = operand_of("idata", from, &t.plan, &t.plan.in, reads_real(type), writes_real(type)),
          out = operand_of("odata", to, &t.plan, &t.plan.out, writes_real(type), reads_real(type));
  out.access = OPERAND_WRITE | (out.access & OPERAND_PARTLY);
  call_operand(&c, &in);
  call_operand(&c, &out);
  if (warpgrind_library_services.enter()) return EXEC_FAILED;
  return warpgrind_library_services.submit(&c) ? EXEC_FAILED : SUCCESS;
}

EXPORT Result cufftExecC2C(int h, const void *in, void *out, int direction) {
  return execute(__func__, h, C2C, in, out, direction);
}
EXPORT Result cufftExecZ2Z(int h, const void *in, void *out, int direction) {
  return execute(__func__, h, Z2Z, in, out, direction);
}
EXPORT Result cufftExecR2C(int h, const void *in, void *out) {
  return execute(__func__, h, R2C, in, out, -1);
}
EXPORT Result cufftExecD2Z(int h, const void *in, void *out) {
  return execute(__func__, h, D2Z, in, out, -1);
}
EXPORT Result cufftExecC2R(int h, const void *in, void *out) {
  return execute(__func__, h, C2R, in, out, 1);
}
EXPORT Result cufftExecZ2D(int h, const void *in, void *out) {
  return execute(__func__, h, Z2D, in, out, 1);
}

// The plan knows its types; a direction counts for complex numbers only.
EXPORT Result cufftXtExec(int h, const void *in, void *out, int direction) {
  const Plan *p = plan_of(h);
  if (!p) return INVALID_PLAN;
  int forward = reads_real(p->type) ? -1 : direction;
  bool to_real = p->type == C2R || p->type == Z2D;
  return execute(__func__, h, p->type, in, out, to_real ? 1 : forward);
}
