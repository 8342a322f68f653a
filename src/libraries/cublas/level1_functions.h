// Level 1 for the type that for_all_types.h sets.
#define X(i) ((const E *)w->x)[first_of(w->n, w->incx) + (i)*w->incx]
#define Y(i) ((E *)w->y)[first_of(w->n, w->incy) + (i)*w->incy]

#ifdef FIRST
static void LOCAL(run_axpy)(void *p) {
  VectorWork *w = p;
  E alpha = *(const E *)scalar(&w->alpha);
  for (int64_t i = 0; i < w->n; i++) Y(i) += alpha * X(i);
}
static void LOCAL(run_copy)(void *p) {
  VectorWork *w = p;
  for (int64_t i = 0; i < w->n; i++) Y(i) = X(i);
}
static void LOCAL(run_swap)(void *p) {
  VectorWork *w = p;
  for (int64_t i = 0; i < w->n; i++) {
    E x = X(i);
    ((E *)w->x)[first_of(w->n, w->incx) + i * w->incx] = Y(i);
    Y(i) = x;
  }
}
static void LOCAL(run_scal)(void *p) {
  VectorWork *w = p;
  E alpha = *(const E *)scalar(&w->alpha);
  for (int64_t i = 0; i < w->n; i++) ((E *)w->y)[i * w->incx] *= alpha;
}
// Eight sums that are added at the end: shorter chains, and smaller errors than one sum.
static void LOCAL(run_dot)(void *p) {
  VectorWork *w = p;
  E sums[8] = {0};
  for (int64_t i = 0; i < w->n; i++) {
    E x = X(i);
#if !REAL
    if (w->conjugates) x = (E)conj((double _Complex)x);
#endif
    sums[i & 7] += x * Y(i);
  }
  *(E *)w->result = ((sums[0] + sums[4]) + (sums[2] + sums[6])) +
                    ((sums[1] + sums[5]) + (sums[3] + sums[7]));
}
static R LOCAL(magnitude)(E x) {  // |re| + |im|, as BLAS has it
#if REAL
  return x < 0 ? -x : x;
#else
  return (R)(fabs(creal((double _Complex)x)) + fabs(cimag((double _Complex)x)));
#endif
}
static void LOCAL(run_asum)(void *p) {
  VectorWork *w = p;
  R sums[8] = {0};
  for (int64_t i = 0; i < w->n; i++) sums[i & 7] += LOCAL(magnitude)(X(i));
  *(R *)w->result = ((sums[0] + sums[4]) + (sums[2] + sums[6])) +
                    ((sums[1] + sums[5]) + (sums[3] + sums[7]));
}
// Scaled by the largest element, so that squares neither overflow nor vanish.
static void LOCAL(run_nrm2)(void *p) {
  VectorWork *w = p;
  double largest = 0, sum = 0;
  for (int64_t i = 0; i < w->n; i++) {
    double re = fabs(creal((double _Complex)X(i))), im = fabs(cimag((double _Complex)X(i)));
    if (isnan(re) || isnan(im)) largest = NAN;
    largest = re > largest ? re : largest;
    largest = im > largest ? im : largest;
  }
  for (int64_t i = 0; i < w->n && largest > 0 && !isinf(largest); i++) {
    double re = creal((double _Complex)X(i)) / largest, im = cimag((double _Complex)X(i)) / largest;
    sum += re * re + im * im;
  }
  *(R *)w->result = (R)(largest > 0 && !isinf(largest) ? largest * sqrt(sum) : largest);
}
static void LOCAL(run_index)(void *p) {
  IndexWork *i_work = p;
  VectorWork *w = &i_work->v;
  int64_t best = 0;
  for (int64_t i = 1; i < w->n; i++) {
    R a = LOCAL(magnitude)(X(i)), b = LOCAL(magnitude)(X(best));
    if (i_work->least ? a < b : a > b) best = i;
  }
  store_index(i_work, best + 1);
}
static LibraryCall LOCAL(call_of)(const char *name, void (*run)(void *), VectorWork *w,
                                  unsigned x_access, unsigned y_access) {
  LibraryCall c = {.name = name, .run = run, .arguments = w, .argument_bytes = sizeof *w};
  if (x_access)
    add_vector(&c, operand_of_vector("x", w->x, ELEMENT, (uint64_t)w->n, w->incx), x_access);
  if (y_access)
    add_vector(&c, operand_of_vector("y", w->y, ELEMENT, (uint64_t)w->n, w->incy), y_access);
  call_scalar(&c, "alpha", &w->alpha, ELEMENT);
  return c;
}
#endif

EXPORT Status API(axpy)(const Handle *h, INT n, const E *alpha, const E *x, INT incx, E *y,
                        INT incy) {
  BEGIN(h, NAME(axpy));
  if (n <= 0) return SUCCESS;
  VectorWork w = {n, incx, incy, x, y, .alpha = scalar_take(h, alpha, sizeof(E))};
  LibraryCall c = LOCAL(call_of)(call_name, LOCAL(run_axpy), &w, OPERAND_READ,
                                 OPERAND_READ | OPERAND_WRITE);
  return submit(h, &c);
}

EXPORT Status API(copy)(const Handle *h, INT n, const E *x, INT incx, E *y, INT incy) {
  BEGIN(h, NAME(copy));
  if (n <= 0) return SUCCESS;
  VectorWork w = {n, incx, incy, x, y};
  LibraryCall c = LOCAL(call_of)(call_name, LOCAL(run_copy), &w, OPERAND_READ, OPERAND_WRITE);
  return submit(h, &c);
}

EXPORT Status API(swap)(const Handle *h, INT n, E *x, INT incx, E *y, INT incy) {
  BEGIN(h, NAME(swap));
  if (n <= 0) return SUCCESS;
  VectorWork w = {n, incx, incy, x, y};
  LibraryCall c = LOCAL(call_of)(call_name, LOCAL(run_swap), &w, OPERAND_READ | OPERAND_WRITE,
                                 OPERAND_READ | OPERAND_WRITE);
  return submit(h, &c);
}

EXPORT Status API(scal)(const Handle *h, INT n, const E *alpha, E *x, INT incx) {
  BEGIN(h, NAME(scal));
  if (n <= 0 || incx <= 0) return SUCCESS;
  VectorWork w = {n, incx, .x = x, .y = x, .alpha = scalar_take(h, alpha, sizeof(E))};
  LibraryCall c = LOCAL(call_of)(call_name, LOCAL(run_scal), &w, OPERAND_READ | OPERAND_WRITE, 0);
  return submit(h, &c);
}

#define DOT(function, text, conj_) \
  EXPORT Status function(const Handle *h, INT n, const E *x, INT incx, const E *y, INT incy, \
                         E *result) { \
    BEGIN(h, text); \
    REQUIRE(result, "the pointer for the result is null"); \
    VectorWork w = {n > 0 ? n : 0, incx, incy, x, (void *)y, result, .conjugates = conj_}; \
    LibraryCall c = LOCAL(call_of)(call_name, LOCAL(run_dot), &w, OPERAND_READ, OPERAND_READ); \
    add_result(h, &c, result, ELEMENT); \
    return submit(h, &c); \
  }
#if REAL
DOT(API(dot), NAME(dot), false)
#else
DOT(API(dotu), NAME(dotu), false)
DOT(API(dotc), NAME(dotc), true)
#endif
#undef DOT

#define NORM(function, text, routine) \
  EXPORT Status function(const Handle *h, INT n, const E *x, INT incx, R *result) { \
    BEGIN(h, text); \
    REQUIRE(result, "the pointer for the result is null"); \
    VectorWork w = {n > 0 && incx > 0 ? n : 0, incx, .x = x, .result = result}; \
    LibraryCall c = LOCAL(call_of)(call_name, LOCAL(routine), &w, OPERAND_READ, 0); \
    add_result(h, &c, result, (Element){sizeof(R), FORMAT}); \
    return submit(h, &c); \
  }
NORM(PASTE(cublas, REAL_T, nrm2, V2), TEXT(PASTE(cublas, REAL_T, nrm2, )), run_nrm2)
NORM(PASTE(cublas, REAL_T, asum, V2), TEXT(PASTE(cublas, REAL_T, asum, )), run_asum)
#undef NORM

#define INDEX(function, text, least_) \
  EXPORT Status function(const Handle *h, INT n, const E *x, INT incx, INT *result) { \
    BEGIN(h, text); \
    REQUIRE(result, "the pointer for the result is null"); \
    if (n <= 0 || incx <= 0) { \
      if (!h->device_pointers) *result = 0; \
      return SUCCESS; \
    } \
    IndexWork w = {{n, incx, .x = x, .result = result}, sizeof(INT) == 8, least_}; \
    LibraryCall c = LOCAL(call_of)(call_name, LOCAL(run_index), &w.v, OPERAND_READ, 0); \
    c.arguments = &w; \
    c.argument_bytes = sizeof w; \
    add_result(h, &c, result, (Element){sizeof(INT), OPERAND_OTHER}); \
    return submit(h, &c); \
  }
INDEX(PASTE(cublasI, t, amax, V2), TEXT(PASTE(cublasI, t, amax, )), false)
INDEX(PASTE(cublasI, t, amin, V2), TEXT(PASTE(cublasI, t, amin, )), true)
#undef INDEX

// --- plane rotations: the cosine is real, the sine may be complex ---
#ifdef FIRST
static void LOCAL(rotate)(VectorWork *w, E sine) {
  R c = *(const R *)scalar(&w->alpha);
#if REAL
  E conjugate = sine;
#else
  E conjugate = (E)conj((double _Complex)sine);
#endif
  for (int64_t i = 0; i < w->n; i++) {
    E x = X(i), y = Y(i);
    ((E *)w->x)[first_of(w->n, w->incx) + i * w->incx] = c * x + sine * y;
    Y(i) = c * y - conjugate * x;
  }
}
static void LOCAL(run_rot)(void *p) {
  VectorWork *w = p;
  LOCAL(rotate)(w, *(const E *)scalar(&w->beta));
}
#endif
#define ROT(function, text, routine, S) \
  EXPORT Status function(const Handle *h, INT n, E *x, INT incx, E *y, INT incy, const R *c, \
                         const S *sine) { \
    BEGIN(h, text); \
    if (n <= 0) return SUCCESS; \
    VectorWork w = {n, incx, incy, x, y}; \
    w.alpha = scalar_take(h, c, sizeof(R)); \
    w.beta = scalar_take(h, sine, sizeof(S)); \
    LibraryCall call = {.name = call_name, .run = LOCAL(routine), .arguments = &w}; \
    call.argument_bytes = sizeof w; \
    unsigned both = OPERAND_READ | OPERAND_WRITE; \
    add_vector(&call, operand_of_vector("x", x, ELEMENT, (uint64_t)n, incx), both); \
    add_vector(&call, operand_of_vector("y", y, ELEMENT, (uint64_t)n, incy), both); \
    call_scalar(&call, "c", &w.alpha, (Element){sizeof(R), FORMAT}); \
    call_scalar(&call, "s", &w.beta, (Element){sizeof(S), FORMAT}); \
    return submit(h, &call); \
  }
ROT(API(rot), NAME(rot), run_rot, E)
#if !REAL
#ifdef FIRST
static void LOCAL(run_real_rot)(void *p) {
  VectorWork *w = p;
  LOCAL(rotate)(w, *(const R *)scalar(&w->beta));
}
#endif
#define JOIN_(a, b) a##b
#define JOIN(a, b) JOIN_(a, b)
ROT(PASTE(cublas, T, REAL_t, JOIN(rot, V2)), TEXT(PASTE(cublas, T, REAL_t, rot)), run_real_rot, R)
#undef JOIN_
#undef JOIN
#endif
#undef ROT
#if REAL
#ifdef FIRST
typedef struct LOCAL(Rotm) {
  VectorWork v;
  const E *param;  // NULL: host
  E host[5];
} LOCAL(Rotm);
static void LOCAL(run_rotm)(void *p) {
  LOCAL(Rotm) *r = p;
  int n = (int)r->v.n, incx = (int)r->v.incx, incy = (int)r->v.incy;
  BLAS(rotm)(&n, r->v.x, &incx, r->v.y, &incy, r->param ? r->param : r->host);
}
#endif
EXPORT Status API(rotm)(const Handle *h, INT n, E *x, INT incx, E *y, INT incy, const E *param) {
  BEGIN(h, NAME(rotm));
  REQUIRE(fits(n) && fits(incx) && fits(incy), "a size is above 2^31 - 1");
  if (n <= 0) return SUCCESS;
  LOCAL(Rotm) r = {.v = {n, incx, incy, x, y}, .param = h->device_pointers ? param : NULL};
  if (!h->device_pointers) memcpy(r.host, param, sizeof r.host);
  LibraryCall c = LOCAL(call_of)(call_name, LOCAL(run_rotm), &r.v, OPERAND_READ | OPERAND_WRITE,
                                 OPERAND_READ | OPERAND_WRITE);
  c.arguments = &r;
  c.argument_bytes = sizeof r;
  if (r.param)
    add_vector(&c, operand_of_vector("param", param, ELEMENT, 5, 1), OPERAND_READ | OPERAND_PARTLY);
  return submit(h, &c);
}
#endif

#ifdef FIRST
// Up to five numbers, which are all on the host or all on the device.
typedef struct LOCAL(Rotg) {
  E *a, *b, *s;
  R *c;
  E *d1, *d2, *x1, *param;
  E y1;
  const E *y1_device;
} LOCAL(Rotg);
static void LOCAL(run_rotg)(void *p) {
  LOCAL(Rotg) *r = p;
  BLAS(rotg)(r->a, r->b, r->c, r->s);
}
EXPORT Status PASTE(cublas, T, rotg, _v2)(const Handle *h, E *a, E *b, R *c, E *s) {
  BEGIN(h, NAME(rotg));
  REQUIRE(a && b && c && s, "a pointer is null");
  LOCAL(Rotg) r = {.a = a, .b = b, .c = c, .s = s};
  if (!h->device_pointers) {
    LOCAL(run_rotg)(&r);
    return SUCCESS;
  }
  LibraryCall call = {
      .name = call_name, .run = LOCAL(run_rotg), .arguments = &r, .argument_bytes = sizeof r};
  add_vector(&call, operand_of_vector("a", a, ELEMENT, 1, 1), OPERAND_READ | OPERAND_WRITE);
  add_vector(&call, operand_of_vector("b", b, ELEMENT, 1, 1), OPERAND_READ | OPERAND_WRITE);
  add_vector(&call, operand_of_vector("c", c, (Element){sizeof(R), FORMAT}, 1, 1), OPERAND_WRITE);
  add_vector(&call, operand_of_vector("s", s, ELEMENT, 1, 1), OPERAND_WRITE);
  return submit(h, &call);
}
#if REAL
static void LOCAL(run_rotmg)(void *p) {
  LOCAL(Rotg) *r = p;
  BLAS(rotmg)(r->d1, r->d2, r->x1, r->y1_device ? r->y1_device : &r->y1, r->param);
}
EXPORT Status PASTE(cublas, T, rotmg, _v2)(const Handle *h, E *d1, E *d2, E *x1, const E *y1,
                                           E *param) {
  BEGIN(h, NAME(rotmg));
  REQUIRE(d1 && d2 && x1 && y1 && param, "a pointer is null");
  LOCAL(Rotg) r = {.d1 = d1, .d2 = d2, .x1 = x1, .param = param, .y1_device = y1};
  if (!h->device_pointers) {
    LOCAL(run_rotmg)(&r);
    return SUCCESS;
  }
  LibraryCall call = {
      .name = call_name, .run = LOCAL(run_rotmg), .arguments = &r, .argument_bytes = sizeof r};
  E *scalars[] = {d1, d2, x1};
  for (int i = 0; i < 3; i++)
    add_vector(&call, operand_of_vector("d1, d2, x1", scalars[i], ELEMENT, 1, 1),
               OPERAND_READ | OPERAND_WRITE);
  add_vector(&call, operand_of_vector("y1", y1, ELEMENT, 1, 1), OPERAND_READ);
  add_vector(&call, operand_of_vector("param", param, ELEMENT, 5, 1),
             OPERAND_WRITE | OPERAND_PARTLY);
  return submit(h, &call);
}
#endif
#endif
#undef X
#undef Y
