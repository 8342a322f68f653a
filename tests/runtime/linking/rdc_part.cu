__device__ int shared_value = 7;
__constant__ int weights[4];
__device__ int combine(int a, int b) { return a * 10 + b; }
void set_weights() {
  int w[4] = {1, 2, 3, 4};
  cudaMemcpyToSymbol(weights, w, sizeof w);
}
