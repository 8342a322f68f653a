// tools: memcheck
kernel void example(global float *in, global float *out, local float *tile, int n) {
  size_t i = get_global_id(0);
  if (i >= n) return;
  out[i] = in[i];
  if (in[i] > 8) out[i] = 0;
}
