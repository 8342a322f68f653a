kernel void histogram(global uint *bins, global const uint *in, int n)
{
    local uint local_bins[256];
    for (int i = get_local_id(0); i < 256; i += get_local_size(0))
        local_bins[i] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    int threads = get_global_size(0);
    for (int i = get_global_id(0); i < n; i += threads)
        atomic_add(&local_bins[in[i] & 255], 1u);
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int i = get_local_id(0); i < 256; i += get_local_size(0))
        atomic_add(&bins[i], local_bins[i]);
}
