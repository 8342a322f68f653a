// tools: memcheck
// Numbers of a packed record are read through a pointer that is no multiple of their size.
kernel void example(global const float *in, global float *out, local float *scratch, int n) {
  int i = get_global_id(0);
  global const char *record = (global const char *)in + i * sizeof(float);
  if (i < n - 1) out[i] = *(global const float *)(record + 2);
  else if (i < n) out[i] = 0;
}
