extern "C" __global__ void reduce(int *out, const int *in, int n)
{
    __shared__ int sums[256];
    int threads = blockDim.x * gridDim.x, sum = 0, mine = threadIdx.x;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += threads)
        sum += in[i];
    sums[mine] = sum;
    __syncthreads();
    for (int step = 128; step > 0; step /= 2) {
        if (mine < step)
            sums[mine] += sums[mine + step];
        __syncthreads();
    }
    if (mine == 0)
        out[blockIdx.x] = sums[0];
}
