extern "C" __global__ void histogram(unsigned *bins, const unsigned *in, int n)
{
    __shared__ unsigned local_bins[256];
    for (int i = threadIdx.x; i < 256; i += blockDim.x)
        local_bins[i] = 0;
    __syncthreads();
    int threads = blockDim.x * gridDim.x;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += threads)
        atomicAdd(&local_bins[in[i] & 255], 1u);
    __syncthreads();
    for (int i = threadIdx.x; i < 256; i += blockDim.x)
        atomicAdd(&bins[i], local_bins[i]);
}
