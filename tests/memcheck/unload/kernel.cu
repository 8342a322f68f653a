extern "C" __global__ void past_the_end(int *a, int n) {
  int i = threadIdx.x;
  if (i <= n)
    a[i] = i;
}
