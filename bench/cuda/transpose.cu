#define TILE 16
extern "C" __global__ void transpose(float *out, const float *in, int n)
{
    __shared__ float tile[TILE][TILE + 1];
    int x = blockIdx.x * TILE, y = blockIdx.y * TILE;
    int column = threadIdx.x, row = threadIdx.y;
    tile[row][column] = in[(y + row) * n + x + column];
    __syncthreads();
    out[(x + row) * n + y + column] = tile[column][row];
}
