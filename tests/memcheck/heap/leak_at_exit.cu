// Freed by a destructor that runs at exit. NVIDIA's runtime has ended by then and refuses, so there
// it is lost.
// runtime: ours
// options: --leak-check=full
#include <cstdio>
#include <cstdlib>
struct Late {
  int *p = nullptr;
  ~Late() {
    if (cudaFree(p) != cudaSuccess) puts("too late");
  }
} late;

int main() {
  if (cudaMalloc(&late.p, 4000) != cudaSuccess) exit(1);
  puts("good");
}
