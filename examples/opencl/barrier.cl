// tools: synccheck
// Work-items with a small number pass by the barrier at which the others of their group wait.
kernel void example(global const float *in, global float *out, local float *tile, int n) {
  size_t i = get_global_id(0), l = get_local_id(0);
  tile[l] = i < n ? in[i] : 0;
  if (tile[l] > 5) barrier(CLK_LOCAL_MEM_FENCE);
  if (i < n) out[i] = tile[l ^ 1];
}
