// Run by modules_linked.sh: kernels that call a function of another file.
__device__ float other_file(float x);
__global__ void __launch_bounds__(256, 8) tight(float *p, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) p[i] = other_file(p[i]);
}
__global__ void loose(float *p, int n) {
  __shared__ float s[64];
  for (int i = threadIdx.x; i < n; i += blockDim.x) {
    s[threadIdx.x] = p[i];
    __syncthreads();
    p[i] = other_file(s[threadIdx.x ^ 1]) / p[n - i];
    __syncthreads();
  }
}
