// cuFFT's results, and the plans by their handles.
#ifndef WG_LIBRARIES_CUFFT_PLAN_H
#define WG_LIBRARIES_CUFFT_PLAN_H

#include <stdbool.h>
#include <stddef.h>

typedef enum Result {
  SUCCESS = 0,
  INVALID_PLAN = 1,
  ALLOC_FAILED = 2,
  INVALID_TYPE = 3,
  INVALID_VALUE = 4,
  EXEC_FAILED = 6,
  SETUP_FAILED = 7,
  INVALID_SIZE = 8,
  NOT_SUPPORTED = 16
} Result;

bool plan_exists(int handle);
void plan_free(int handle);  // without waiting for its transforms

Result cufftPlan1d(int *handle, int nx, int type, int batch);
Result cufftPlan2d(int *handle, int nx, int ny, int type);
Result cufftPlan3d(int *handle, int nx, int ny, int nz, int type);
Result cufftPlanMany(int *handle, int rank, int *n, int *inembed, int istride, int idist,
                     int *onembed, int ostride, int odist, int type, int batch);
#endif
