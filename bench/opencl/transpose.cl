#define TILE 16
kernel void transpose(global float *out, global const float *in, int n)
{
    local float tile[TILE][TILE + 1];
    int x = get_group_id(0) * TILE, y = get_group_id(1) * TILE;
    int column = get_local_id(0), row = get_local_id(1);
    tile[row][column] = in[(y + row) * n + x + column];
    barrier(CLK_LOCAL_MEM_FENCE);
    out[(x + row) * n + y + column] = tile[column][row];
}
