// tools: synccheck
kernel void example(global const float *in, global float *out, local float *tile, int n) {
  size_t i = get_global_id(0), l = get_local_id(0);
  tile[l] = i < n ? in[i] : 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  if (i < n) out[i] = tile[l ^ 1];
}
