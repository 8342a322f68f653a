// nvcc: -G
// Arrays of one frame, each by itself: debug information of code that is not optimised tells where
// they are.
#include <cstdio>
#include <cstdlib>
#define OK(call) \
  do { \
    cudaError_t e = (call); \
    if (e != cudaSuccess) { \
      printf("%s\n", cudaGetErrorString(e)); \
      exit(1); \
    } \
  } while (0)
struct Point { float x, y; short tag[4]; };

__global__ void each(int *out, int n) {
  int first[4], second[6];
  float table[3][5];
  Point points[2];
  for (int i = 0; i < 4; i++) first[i] = i;
  for (int i = 0; i < 6; i++) second[i] = i;
  for (int i = 0; i < 15; i++) table[i / 5][i % 5] = i;
  first[n] = 7;  // finds: oob-write count=32
  points[0].x = points[1].x = 1;
  int s = second[n - 5];  // finds: oob-read count=32
  for (int i = 0; i < 4; i++) points[1].tag[i] = i;
  s += (int)table[3][n - 4];  // finds: oob-read count=32
  const int *p = second + 2;
  if (threadIdx.x == 3) s += p[n];  // finds: oob-read count=1
  out[threadIdx.x] = s + first[0] + points[1].tag[1];
}

int main() {
  int *out;
  OK(cudaMalloc(&out, 32 * 4));
  each<<<1, 32>>>(out, 4);
  OK(cudaDeviceSynchronize());
  puts("done");
}
