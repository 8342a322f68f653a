// tools: initcheck
// `out` is a new buffer: += adds to what happens to be in it.
kernel void example(global const float *in, global float *out, local float *tile, int n) {
  size_t i = get_global_id(0);
  if (i < n) out[i] += in[i];
}
