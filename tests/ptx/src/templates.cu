// Templates and lambdas; launch bounds; shared memory, static and dynamic; volatile and restrict.
template <typename T> struct Add { __device__ T operator()(T a, T b) const { return a + b; } };
template <typename T> struct Max {
  __device__ T operator()(T a, T b) const { return a > b ? a : b; }
};
template <typename T, int N, typename Op>
__global__ void __launch_bounds__(N, 2)
    reduce(const T *__restrict__ in, T *__restrict__ out, int n, Op op) {
  __shared__ T tile[N];
  extern __shared__ unsigned char raw[];
  T *more = reinterpret_cast<T *>(raw);
  int t = threadIdx.x;
  T sum = T();
  for (int i = blockIdx.x * N + t; i < n; i += gridDim.x * N) sum = op(sum, in[i]);
  tile[t] = sum;
  more[t] = sum;
  __syncthreads();
#pragma unroll
  for (int s = N / 2; s > 0; s >>= 1) {
    if (t < s) tile[t] = op(tile[t], tile[t + s]);
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = op(tile[0], more[n % N]);
}
template __global__ void reduce<float, 128, Add<float>>(const float *, float *, int, Add<float>);
template __global__ void reduce<double, 64, Max<double>>(const double *, double *, int,
                                                         Max<double>);
template __global__ void reduce<long long, 256, Add<long long>>(const long long *, long long *, int,
                                                                Add<long long>);
template __global__ void reduce<signed char, 32, Max<signed char>>(const signed char *,
                                                                   signed char *, int,
                                                                   Max<signed char>);
__global__ void apply(volatile int *p, int n) {
  auto f = [=](int x) { return x * n; };
  p[threadIdx.x] = f(p[threadIdx.x]);
}
