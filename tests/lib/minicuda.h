/* The little of the CUDA language and runtime API that the examples and some tests use, so that
 * clang can compile their host part where no CUDA toolkit is installed; the kernels come from the
 * kept PTX. See step_cuda_program in steps.sh. */
#ifndef MINICUDA_H
#define MINICUDA_H

#include <stddef.h>

#define __host__ __attribute__((host))
#define __device__ __attribute__((device))
#define __global__ __attribute__((global))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))
#define __noinline__ __attribute__((noinline))
#define __align__(n) __attribute__((aligned(n)))
#define __grid_constant__
#define __forceinline__ inline __attribute__((always_inline))
#define __launch_bounds__(...) __attribute__((launch_bounds(__VA_ARGS__)))

struct uint3 { unsigned x, y, z; };
struct dim3 {
    unsigned x, y, z;
    __host__ __device__ dim3(unsigned x = 1, unsigned y = 1, unsigned z = 1) : x(x), y(y), z(z) {}
};
struct float2 { float x, y; };
struct float3 { float x, y, z; };
struct float4 { float x, y, z, w; };
struct int2 { int x, y; };
struct int3 { int x, y, z; };
struct int4 { int x, y, z, w; };
static inline __host__ __device__ float2 make_float2(float x, float y) { return {x, y}; }
static inline __host__ __device__ float3 make_float3(float x, float y, float z) {
  return {x, y, z};
}
static inline __host__ __device__ float4 make_float4(float x, float y, float z, float w) {
  return {x, y, z, w};
}
static inline __host__ __device__ int2 make_int2(int x, int y) { return {x, y}; }

/* Names that only kernels use: declared so that they parse, never called here. */
extern __device__ const uint3 threadIdx, blockIdx;
extern __device__ const dim3 blockDim, gridDim;
__device__ void __syncthreads();
__device__ void __syncwarp(unsigned mask = ~0u);
__device__ void __threadfence();
__device__ unsigned __activemask();
__device__ unsigned __ballot_sync(unsigned mask, int predicate);
template <typename T> __device__ T __shfl_sync(unsigned mask, T value, int lane, int width = 32);
__device__ long long clock64();
template <typename... Values> __device__ int printf(const char *format, Values... values);
__device__ void *malloc(size_t size);
__device__ void free(void *pointer);
__device__ void __assert_fail(const char *condition, const char *file, unsigned line,
                              const char *function);
template <typename T, typename U> __device__ T atomicAdd(T *at, U value);
template <typename T, typename U> __device__ T atomicExch(T *at, U value);
template <typename T, typename U> __device__ T atomicMax(T *at, U value);
template <typename T> __device__ T atomicCAS(T *at, T expected, T value);
#define DEVICE_MATH(name) __device__ float name##f(float x); __device__ double name(double x);
DEVICE_MATH(exp)
DEVICE_MATH(log) DEVICE_MATH(sqrt) DEVICE_MATH(rsqrt) DEVICE_MATH(fabs) DEVICE_MATH(floor)
    DEVICE_MATH(ceil) DEVICE_MATH(sin) DEVICE_MATH(cos) __device__ float fminf(float x, float y);
__device__ float fmaxf(float x, float y);
__device__ float powf(float x, float y);
template <typename T, typename U>
static inline __host__ __device__ decltype(T() + U()) min(T a, U b) {
  return b < a ? b : a;
}
template <typename T, typename U>
static inline __host__ __device__ decltype(T() + U()) max(T a, U b) {
  return a < b ? b : a;
}

typedef struct CUstream_st *cudaStream_t;
typedef enum cudaError { cudaSuccess = 0 } cudaError_t;
enum cudaMemcpyKind {
  cudaMemcpyHostToHost,
  cudaMemcpyHostToDevice,
  cudaMemcpyDeviceToHost,
  cudaMemcpyDeviceToDevice,
  cudaMemcpyDefault
};

extern "C" {
cudaError_t cudaMalloc(void **pointer, size_t size);
cudaError_t cudaFree(void *pointer);
cudaError_t cudaMemcpy(void *to, const void *from, size_t size, enum cudaMemcpyKind kind);
cudaError_t cudaMemset(void *to, int value, size_t size);
cudaError_t cudaMemcpyFromSymbol(void *to, const void *symbol, size_t size, size_t offset,
                                 enum cudaMemcpyKind kind);
cudaError_t cudaGetLastError(void);
cudaError_t cudaDeviceReset(void);
cudaError_t cudaDeviceSynchronize(void);
const char *cudaGetErrorString(cudaError_t error);
cudaError_t cudaLaunchKernel(const void *function, dim3 grid, dim3 block, void **arguments,
                             size_t shared, cudaStream_t stream);
unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared = 0, void *stream = 0);
}
template <typename T>
static inline cudaError_t cudaMemcpyFromSymbol(void *to, const T &symbol, size_t size) {
  return cudaMemcpyFromSymbol(to, (const void *)&symbol, size, 0, cudaMemcpyDeviceToHost);
}
template <typename T> static inline cudaError_t cudaMalloc(T **pointer, size_t size) {
  return cudaMalloc((void **)pointer, size);
}

#endif
