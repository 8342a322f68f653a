// nvcc: -Iinclude
// Interrupts with objects of the host: each call goes to one of them, as the interrupt members of
// the paper (its listing 3) do.
#include <cstdio>
#include <string>
#include <vector>

#include "warpgrind.h"

struct Check {
  std::string text;
  int line, failures;
  float worst;
  void fail(float x) {
    failures++;
    if (x < worst) worst = x;
  }
};
struct Table {
  std::vector<int> values;
};

WG_INTERRUPT(check_fails, void(wg_host<Check> check, float x));
WG_INTERRUPT_OR(look_up, int(wg_host<Table> table, int i), -1);

__device__ void verify(bool good, wg_host<Check> check, float x) {
  if (!good) check_fails(check, x);
}

__global__ void kernel(float *a, int n, wg_host<Check> positive, wg_host<Check> small,
                       wg_host<Table> odd, wg_host<Table> even) {
  int i = threadIdx.x + blockIdx.x * blockDim.x;
  if (i >= n) return;
  float x = i - 10;
  verify(x >= 0, positive, x);
  verify(x < 50, small, x);
  a[i] = x + look_up(i % 2 ? odd : even, i / 2);
}

WG_HANDLER(check_fails, wg_callers &callers, wg_list<wg_host<Check>> check, wg_list<float> x) {
  for (size_t i = 0; i < callers.size(); i++) check[i]->fail(x[i]);
}
WG_HANDLER(look_up, wg_callers &callers, wg_list<wg_host<Table>> table, wg_list<int> at,
           wg_results<int> found) {
  for (size_t i = 0; i < callers.size(); i++) found[i] = table[i]->values.at(at[i]);
}

int main() {
  enum { N = 100 };
  Check positive = {"x >= 0", 1, 0, 0}, small = {"x < 50", 2, 0, 1e9f};
  Table odd, even;
  float *a, host[N];
  double sum = 0;
  for (int i = 0; i < N; i++) {
    odd.values.push_back(1000);
    even.values.push_back(i);
  }
  cudaMalloc(&a, sizeof host);
  kernel<<<2, 64>>>(a, N, positive, small, odd, even);
  cudaMemcpy(host, a, sizeof host, cudaMemcpyDeviceToHost);
  for (int i = 0; i < N; i++) sum += host[i];
  for (const Check *c : {&positive, &small})
    printf("%s: %d failures, worst %g\n", c->text.c_str(), c->failures, c->worst);
  printf("%g, %s\n", sum, cudaGetErrorString(cudaGetLastError()));
  cudaFree(a);
}
