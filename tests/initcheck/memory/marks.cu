// warpgrind.h on the host.
#include "check.h"
#include "warpgrind.h"

static char host[256];

int main() {
  char *a;
  int asked = 0;
  CHECK(cudaMalloc(&a, 256));
  asked = asked * 2 + wg_is_initialized(a, 1);
  wg_mark_initialized(a + 1, 9);
  asked = asked * 2 + wg_is_initialized(a + 1, 9);
  asked = asked * 2 + wg_is_initialized(a + 1, 10);
  CHECK(cudaMemcpy(host, a + 1, 9, cudaMemcpyDeviceToHost));
  CHECK(cudaMemset(a, 0, 256));
  wg_mark_uninitialized(a + 5, 2);
  asked = asked * 2 + wg_is_initialized(a, 5);
  asked = asked * 2 + wg_is_initialized(a, 6);
  asked = asked * 2 + wg_is_initialized(a + 7, 249);
  CHECK(cudaMemcpy(host, a, 256, cudaMemcpyDeviceToHost));  // finds-cpu: uninit-copy bytes=2
  __dflog_forceinit(a, 256);
  CHECK(cudaMemcpy(host, a, 256, cudaMemcpyDeviceToHost));
  asked = asked * 2 + wg_is_initialized(host, 256);
  fprintf(stderr, "asked: %x\n",
          asked);  // 0 1 0 1 0 1 1 with initcheck, all 1 without; on a GPU whole words of 4
  printf("done\n");
  return 0;
}
