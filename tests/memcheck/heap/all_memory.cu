// A program that takes all device memory it is told of, again and again: the quarantine is never in
// its way, and free memory is what it was.
// options: --quarantine=64
#include <cstdio>
#include <cstdlib>
#include <vector>
#define OK(call) \
  do { \
    cudaError_t e = (call); \
    if (e != cudaSuccess) { \
      printf("%s: %s\n", #call, cudaGetErrorString(e)); \
      exit(1); \
    } \
  } while (0)

static bool about(size_t a, size_t b) {
  return a < b + (4 << 20) && b < a + (4 << 20);
}  // a GPU gives memory in pieces of 2 MB

int main() {
  size_t at_first, now, total; std::vector<void *> all; void *p;
  OK(cudaMalloc(&p, 64)); OK(cudaFree(p));
  OK(cudaMemGetInfo(&at_first, &total));
  for (int round = 0; round < 3; round++) {
    size_t piece = (at_first - (8 << 20)) / 8 >> 21 << 21,
           taken = 0;  // some megabytes stay for what comes after them
    for (; taken + piece <= at_first; taken += piece) {
      OK(cudaMalloc(&p, piece));
      all.push_back(p);
    }
    printf("%d pieces, then: %s\n", (int)all.size(), cudaGetErrorName(cudaMalloc(&p, piece)));
    cudaGetLastError();
    OK(cudaMalloc(&p, 1 << 20)); OK(cudaFree(p)); OK(cudaMalloc(&p, 1 << 20)); OK(cudaFree(p));
    for (void *q : all) OK(cudaFree(q));
    all.clear();
    OK(cudaMemGetInfo(&now, &total));
    printf("%s\n", about(now, at_first) ? "as much as before" : now > at_first ? "more" : "less");
    OK(cudaMalloc(&p, 32 << 20)); OK(cudaFree(p)); OK(cudaMemGetInfo(&now, &total));
    printf("%s\n", about(now, at_first) ? "as much as before" : now > at_first ? "more" : "less");
  }
}
