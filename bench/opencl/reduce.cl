kernel void reduce(global int *out, global const int *in, int n)
{
    local int sums[256];
    int threads = get_global_size(0), sum = 0, mine = get_local_id(0);
    for (int i = get_global_id(0); i < n; i += threads)
        sum += in[i];
    sums[mine] = sum;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int step = 128; step > 0; step /= 2) {
        if (mine < step)
            sums[mine] += sums[mine + step];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (mine == 0)
        out[get_group_id(0)] = sums[0];
}
