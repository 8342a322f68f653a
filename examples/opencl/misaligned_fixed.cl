// tools: memcheck
// vload reads from any address that is a multiple of its elements' size.
kernel void example(global const float *in, global float *out, local float *scratch, int n) {
  int i = get_global_id(0);
  global const char *record = (global const char *)in + i * sizeof(float);
  if (i < n - 1) out[i] = as_float(vload4(0, record + 2));
  else if (i < n) out[i] = 0;
}
