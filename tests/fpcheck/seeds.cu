// Correct kernels that work with infinity, in launches too large for fast mode to test everywhere:
// a softmax whose masked scores are -inf, and a minimum seeded with inf. Nothing is wrong: no
// errors, no warnings. Run by situations.sh.
#include <cmath>
#include <cstdio>

#define CHECK(call) \
  do { \
    cudaError_t e_ = (call); \
    if (e_ != cudaSuccess) { \
      printf("%s: %s\n", #call, cudaGetErrorString(e_)); \
      return 1; \
    } \
  } while (0)
enum { ROWS = 1024, WIDTH = 128 };

__global__ void masked_softmax(float *out, const float *in,
                               const int *lengths) {  // a block for each row
  __shared__ float row[WIDTH];
  int i = threadIdx.x, length = lengths[blockIdx.x];
  float score = i < length ? in[blockIdx.x * WIDTH + i] * 0.125f : -INFINITY;
  row[i] = score;
  __syncthreads();
  float top = -INFINITY;
  for (int k = 0; k < WIDTH; k++) top = fmaxf(top, row[k]);
  float e = expf(score - top);
  __syncthreads();
  row[i] = e;
  __syncthreads();
  float sum = 0;
  for (int k = 0; k < WIDTH; k++) sum += row[k];
  out[blockIdx.x * WIDTH + i] = e / sum;
}
__global__ void least(float *out, const float *in, int n) {
  __shared__ float part[WIDTH];
  float m = INFINITY;
  for (int i = blockIdx.x * WIDTH + threadIdx.x; i < n; i += WIDTH * gridDim.x * 2)
    m = fminf(m, in[i] * 2.0f);
  part[threadIdx.x] = m;
  __syncthreads();
  for (int k = WIDTH / 2; k; k /= 2) {
    if (threadIdx.x < k) part[threadIdx.x] = fminf(part[threadIdx.x], part[threadIdx.x + k]);
    __syncthreads();
  }
  if (!threadIdx.x) out[blockIdx.x] = part[0];
}

int main() {
  static float in[ROWS * WIDTH], out[ROWS * WIDTH];
  static int lengths[ROWS];
  for (int i = 0; i < ROWS * WIDTH; i++) in[i] = (float)(i * 37 % 101) - 50;
  for (int i = 0; i < ROWS; i++) lengths[i] = 1 + i * 7 % WIDTH;
  float *dev, *result;
  int *dev_lengths;
  CHECK(cudaMalloc(&dev, sizeof in));
  CHECK(cudaMalloc(&result, sizeof out));
  CHECK(cudaMalloc(&dev_lengths, sizeof lengths));
  CHECK(cudaMemcpy(dev, in, sizeof in, cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(dev_lengths, lengths, sizeof lengths, cudaMemcpyHostToDevice));
  masked_softmax<<<ROWS, WIDTH>>>(result, dev, dev_lengths);
  CHECK(cudaMemcpy(out, result, sizeof out, cudaMemcpyDeviceToHost));
  double sum = 0;
  for (float x : out) sum += x;
  least<<<ROWS, WIDTH>>>(result, dev, ROWS * WIDTH);
  CHECK(cudaMemcpy(out, result, ROWS * sizeof(float), cudaMemcpyDeviceToHost));
  printf("%.3f %g\n", sum, out[0]);
}
