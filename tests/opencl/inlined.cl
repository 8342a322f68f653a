// A read that is three inlined calls deep, one of them in a header; a function of OpenCL's library
// is inlined around it and reads memory as well.
#include "tests/opencl/inlined.h"

static float sum(global const float *in, int i) {
  float s = 0;
  for (int k = 0; k < 3; k++)
    s += fabs(element(in, i + k));  // label: call_element
  return s;
}

float pair(global const float *in, int i) {
  return sum(in, i) + vload2(2, in + i).y;  // label: call_sum
}

kernel void example(global const float *in, global float *out, local float *scratch, int n) {
  int i = get_global_id(0);
  if (i < n) out[i] = pair(in, i);  // label: call_pair
}
