static float element(global const float *in, int i) {
  return in[i] * 2;  // label: element
}
