// cuBLAS beside a BLAS of the program's own, without threads of its own, across fork, and with the
// same bits every time.
// nvcc: -lcublas
// options: --workers=1
#include <cublas_v2.h>
#include <dirent.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cstdio>
#include <cstring>
#include <vector>

// The program's own routine has the name of OpenBLAS's.
static int own_calls;
extern "C" void sgemm_() { own_calls++; }
extern "C" void cblas_sgemm() { own_calls++; }

static int threads() {
  int n = 0;
  DIR *d = opendir("/proc/self/task");
  while (d && readdir(d)) n++;
  if (d) closedir(d);
  return n;
}

enum { N = 300 };
static cublasHandle_t h;
static float *a, *b, *c;

static std::vector<float> product() {
  float one = 1, zero = 0;
  std::vector<float> out(N * N);
  cublasSgemm(h, CUBLAS_OP_N, CUBLAS_OP_T, N, N, N, &one, a, N, b, N, &zero, c, N);
  cudaMemcpy(out.data(), c, out.size() * sizeof(float), cudaMemcpyDeviceToHost);
  return out;
}

int main() {
  std::vector<float> x(N * N);
  for (int i = 0; i < N * N; i++) x[i] = (float)((i * 37 + 11) % 101 - 50) / 25;
  cudaMalloc(&a, x.size() * sizeof(float));
  cudaMalloc(&b, x.size() * sizeof(float));
  cudaMalloc(&c, x.size() * sizeof(float));
  cudaMemcpy(a, x.data(), x.size() * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemcpy(b, x.data(), x.size() * sizeof(float), cudaMemcpyHostToDevice);
  cublasCreate(&h);
  cudaMemsetAsync(c, 0, x.size() * sizeof(float), 0);  // the device has its threads now
  cudaDeviceSynchronize();
  int before = threads(), bad = 0;
  std::vector<float> first = product();
  if (threads() != before) printf("%d threads, before %d\n", threads(), before), bad++;
  pid_t child = fork();
  if (child == 0) exit(0);  // with all handlers of the library
  int status = -1;
  waitpid(child, &status, 0);
  if (status) printf("the child: status %d\n", status), bad++;
  std::vector<float> again = product();
  if (memcmp(first.data(), again.data(), first.size() * sizeof(float)))
    printf("other bits the second time\n"), bad++;
  if (own_calls) printf("the program's own routine was called\n"), bad++;
  cublasDestroy(h);
  cudaFree(a);
  cudaFree(b);
  cudaFree(c);
  printf("%d wrong\n", bad);
  return bad != 0;
}
