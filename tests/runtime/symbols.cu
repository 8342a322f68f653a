// Variables of device code: cudaMemcpyToSymbol and back, addresses, constants, __managed__, and the
// state after a reset.
// prints: all checks passed
#include "check.h"

__device__ int counter = 41;
__device__ float table[8] = {0, 1, 2, 3, 4, 5, 6, 7};
__constant__ double scale[4];
__managed__ int shared_count = 5;
__managed__ float shared_table[16];
static __device__ int hidden;

__global__ void work(double *out) {
  int i = threadIdx.x;
  out[i] = table[i] * scale[i & 3];
  if (i == 0) counter++;
  shared_table[i] = (float)i;
  if (i == 0) shared_count += 10;
  if (i == 0) hidden = 99;
}

int main() {
  EXPECT(shared_count == 5);                          // readable before any call of ours
  shared_count = 6;
  double s[4] = {1, 10, 100, 1000}, *out, h[8];
  OK(cudaMemcpyToSymbol(scale, s, sizeof s));
  float two[2] = {50, 60};
  OK(cudaMemcpyToSymbol(table, two, sizeof two, 5 * sizeof(float)));
  OK(cudaMalloc(&out, sizeof h));
  work<<<1, 8>>>(out);
  OK(cudaDeviceSynchronize());
  OK(cudaMemcpy(h, out, sizeof h, cudaMemcpyDeviceToHost));
  EXPECT(h[1] == 10 && h[2] == 200 && h[5] == 500 && h[6] == 6000 && h[7] == 7000);
  EXPECT(shared_count == 16 && shared_table[7] == 7);
  int c = 0;
  OK(cudaMemcpyFromSymbol(&c, counter, sizeof c));
  EXPECT(c == 42);
  OK(cudaMemcpyFromSymbol(&c, hidden, sizeof c));
  EXPECT(c == 99);
  OK(cudaMemcpyFromSymbol(&c, shared_count, sizeof c));
  EXPECT(c == 16);
  void *address;
  size_t size;
  OK(cudaGetSymbolAddress(&address, table));
  OK(cudaGetSymbolSize(&size, table));
  EXPECT(size == sizeof table);
  float f = 0;
  OK(cudaMemcpy(&f, (char *)address + 5 * sizeof f, sizeof f, cudaMemcpyDeviceToHost));
  EXPECT(f == 50);
  cudaStream_t stream;
  OK(cudaStreamCreate(&stream));
  c = 7;
  OK(cudaMemcpyToSymbolAsync(counter, &c, sizeof c, 0, cudaMemcpyHostToDevice, stream));
  int back = 0;
  OK(cudaMemcpyFromSymbolAsync(&back, counter, sizeof back, 0, cudaMemcpyDeviceToHost, stream));
  OK(cudaStreamSynchronize(stream));
  EXPECT(back == 7);
  RETURNS(cudaMemcpyToSymbol(counter, &c, 8), cudaErrorInvalidValue);
  RETURNS(cudaMemcpyToSymbol(&back, &c, 4), cudaErrorInvalidSymbol);
  RETURNS(cudaMemcpyToSymbol(counter, &c, 4, 0, cudaMemcpyDeviceToHost),
          cudaErrorInvalidMemcpyDirection);

  OK(cudaDeviceReset());                              // everything as at the start
  OK(cudaMemcpyFromSymbol(&c, counter, sizeof c));
  EXPECT(c == 41);
  EXPECT(shared_count == 5);
  OK(cudaMalloc(&out, sizeof h));
  work<<<1, 8>>>(out);
  OK(cudaDeviceSynchronize());
  OK(cudaMemcpy(h, out, sizeof h, cudaMemcpyDeviceToHost));
  EXPECT(h[7] == 0 && shared_count == 15);
  OK(cudaMemcpyFromSymbol(&c, counter, sizeof c));
  EXPECT(c == 42);
  cudaGetLastError();
  return finish();
}
