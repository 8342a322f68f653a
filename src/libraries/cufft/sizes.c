// Work areas and settings of plans. Transforms need no memory of the program and have no settings:
// sizes are 0, and set values are dropped. Wrong sizes and types are refused as by plans.
#include "libraries/common/call.h"
#include "libraries/cufft/plan.h"

static Result size_of(Result made, int trial, size_t *work) {
  if (made) return made;
  plan_free(trial);
  if (!work) return INVALID_VALUE;
  *work = 0;
  return SUCCESS;
}

EXPORT Result cufftEstimate1d(int nx, int type, int batch, size_t *work) {
  int h = 0;
  Result r = cufftPlan1d(&h, nx, type, batch);
  return size_of(r, h, work);
}
EXPORT Result cufftEstimate2d(int nx, int ny, int type, size_t *work) {
  int h = 0;
  Result r = cufftPlan2d(&h, nx, ny, type);
  return size_of(r, h, work);
}
EXPORT Result cufftEstimate3d(int nx, int ny, int nz, int type, size_t *work) {
  int h = 0;
  Result r = cufftPlan3d(&h, nx, ny, nz, type);
  return size_of(r, h, work);
}
EXPORT Result cufftEstimateMany(int rank, int *n, int *inembed, int istride, int idist,
                                int *onembed, int ostride, int odist, int type, int batch,
                                size_t *work) {
  int h = 0;
  Result r = cufftPlanMany(&h, rank, n, inembed, istride, idist, onembed, ostride, odist, type,
                           batch);
  return size_of(r, h, work);
}

static Result size_zero(int handle, size_t *work) {
  if (!plan_exists(handle)) return INVALID_PLAN;
  if (work) *work = 0;
  return SUCCESS;
}
EXPORT Result cufftGetSize(int h, size_t *work) { return size_zero(h, work); }
EXPORT Result cufftGetSize1d(int h, int nx, int type, int batch, size_t *work) {
  return plan_exists(h) ? cufftEstimate1d(nx, type, batch, work) : INVALID_PLAN;
}
EXPORT Result cufftGetSize2d(int h, int nx, int ny, int type, size_t *work) {
  return plan_exists(h) ? cufftEstimate2d(nx, ny, type, work) : INVALID_PLAN;
}
EXPORT Result cufftGetSize3d(int h, int nx, int ny, int nz, int type, size_t *work) {
  return plan_exists(h) ? cufftEstimate3d(nx, ny, nz, type, work) : INVALID_PLAN;
}
EXPORT Result cufftGetSizeMany(int h, int rank, int *n, int *inembed, int istride, int idist,
                               int *onembed, int ostride, int odist, int type, int batch,
                               size_t *work) {
  if (!plan_exists(h)) return INVALID_PLAN;
  return cufftEstimateMany(rank, n, inembed, istride, idist, onembed, ostride, odist, type, batch,
                           work);
}
EXPORT Result cufftGetSizeMany64(int h, int rank, long long *n, long long *inembed,
                                 long long istride, long long idist, long long *onembed,
                                 long long ostride, long long odist, int type, long long batch,
                                 size_t *work) {
  return size_zero(h, work);
}
EXPORT Result cufftXtGetSizeMany(int h, int rank, long long *n, long long *inembed,
                                 long long istride, long long idist, int input, long long *onembed,
                                 long long ostride, long long odist, int output, long long batch,
                                 size_t *work, int execution) {
  return size_zero(h, work);
}

static Result accepted(int handle) { return plan_exists(handle) ? SUCCESS : INVALID_PLAN; }
EXPORT Result cufftSetWorkArea(int h, void *area) { return accepted(h); }
EXPORT Result cufftXtSetWorkArea(int h, void **areas) { return accepted(h); }
EXPORT Result cufftXtSetWorkAreaPolicy(int h, int policy, size_t *work) { return accepted(h); }
EXPORT Result cufftSetAutoAllocation(int h, int on) { return accepted(h); }
EXPORT Result cufftSetPlanPropertyInt64(int h, int property, long long value) {
  return accepted(h);
}
EXPORT Result cufftResetPlanProperty(int h, int property) { return accepted(h); }
EXPORT Result cufftGetPlanPropertyInt64(int h, int property, long long *value) {
  if (!value) return INVALID_VALUE;
  *value = 0;
  return accepted(h);
}
