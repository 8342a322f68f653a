// tools: racecheck
kernel void example(global const float *in, global float *out, local float *tile, int n) {
  size_t i = get_global_id(0), l = get_local_id(0), first = i - l;
  size_t last = first + get_local_size(0) < n ? first + get_local_size(0) - 1 : n - 1;
  if (i < n) out[i] = in[i];
  barrier(CLK_GLOBAL_MEM_FENCE);
  if (i == first && out[last] > 100) out[i] = out[last];
}
