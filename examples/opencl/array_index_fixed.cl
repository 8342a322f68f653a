// tools: memcheck
typedef struct {
  int count[10];
  int all;
} Histogram;
kernel void example(global const float *in, global float *out, local float *tile, int n) {
  size_t i = get_global_id(0);
  Histogram h = {{0}, 0};
  for (int k = 0; k < 20; k++) {
    int class = (int)in[(i + k) % n];
    h.count[class] = h.count[class] + 1;
    h.all++;
  }
  if (i < n) out[i] = (float)h.count[i % 9] / h.all;
}
