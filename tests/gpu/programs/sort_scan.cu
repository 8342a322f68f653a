// Sort, scan, reduce and unique of Thrust and CUB: large modules, kernels chosen by their
// attributes.
// coverage: all
// coverage-with-tool: any
// nvcc: -std=c++17
#include <thrust/device_vector.h>
#include <thrust/reduce.h>
#include <thrust/scan.h>
#include <thrust/sort.h>
#include <thrust/unique.h>
#include <thrust/sequence.h>
#include <vector>
#include "gpu_test.h"

int main() {
  size_t n = 20011;
  std::vector<unsigned> h(n);
  unsigned long long state = 88172645463325252ull, sum = 0;
  for (auto &v : h) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    v = state % 5000;
    sum += v;
  }
  thrust::device_vector<unsigned> d(h.begin(), h.end()), keys = d, order(n), scan(n);
  thrust::sequence(order.begin(), order.end());
  thrust::stable_sort_by_key(keys.begin(), keys.end(), order.begin());
  thrust::inclusive_scan(d.begin(), d.end(), scan.begin());
  EXPECT(thrust::reduce(d.begin(), d.end(), 0ull) == sum);
  std::vector<unsigned> k(n), o(n), s(n);
  thrust::copy(keys.begin(), keys.end(), k.begin());
  thrust::copy(order.begin(), order.end(), o.begin());
  thrust::copy(scan.begin(), scan.end(), s.begin());
  for (size_t i = 0; i < n; i++) {
    EXPECT(h[o[i]] == k[i]);
    if (i) EXPECT(k[i - 1] < k[i] || (k[i - 1] == k[i] && o[i - 1] < o[i]));
  }
  EXPECT(s[n - 1] == (unsigned)sum);
  show("keys", k.data(), n * 4);
  show("order", o.data(), n * 4);
  show("scan", s.data(), n * 4);
  auto end = thrust::unique(keys.begin(), keys.end());
  printf("%ld different\n", (long)(end - keys.begin()));
  thrust::device_vector<double> x(n, 0.125);
  printf("%.3f\n", thrust::reduce(x.begin(), x.end()));
  return finish();
}
