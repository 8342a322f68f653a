// nvcc: -Iinclude
// Parameters and results of many types; who called and where; handlers with the interface of C.
#include <cstdio>

#include "warpgrind.h"

struct Point { float x, y, z; };
struct Wide { double a; int b; };

WG_INTERRUPT(show, void(char a, short b, unsigned char c, double d, Point p, const int *pointer));
WG_INTERRUPT_OR(to_bool, bool(int x), false);
WG_INTERRUPT_OR(to_short, short(int x), -1);
WG_INTERRUPT_OR(to_double, double(float x), -1.0);
WG_INTERRUPT_OR(to_wide, Wide(int x), Wide());
WG_INTERRUPT_OR_TRAP(no_parameter, unsigned long long());
WG_INTERRUPT(in_c, void(int a, int b));

__global__ void kernel(double *out, const int *data) {
  int i = threadIdx.x;
  show('a' + i, (short)(-i), (unsigned char)(200 + i), i / 3.0, Point{1.f * i, 2.f * i, 3.f * i},
       data + i);
  bool odd = to_bool(i);
  short s = to_short(i);
  double d = to_double(i * 0.5f);
  Wide w = to_wide(i);
  unsigned long long n = no_parameter();
  in_c(i, i * i);
  out[i] = odd * 1000 + s * 100 + d + w.a + w.b + (double)n;
}

WG_HANDLER(show, wg_callers &callers, wg_list<char> a, wg_list<short> b, wg_list<unsigned char> c,
           wg_list<double> d, wg_list<Point> p, wg_list<const int *> pointer) {
  for (size_t i = 0; i < callers.size(); i++) {
    const char *slash = callers[i].file;
    for (const char *s = slash; s && *s; s++)
      if (*s == '/') slash = s + 1;
    printf("thread %u: %c %d %d %.3f (%g %g %g) +%d, at %s:%u\n", callers[i].thread[0], a[i], b[i],
           c[i], d[i], p[i].x, p[i].y, p[i].z, (int)(pointer[i] - pointer[0]), slash,
           callers[i].line);
  }
}
WG_HANDLER(to_bool, wg_callers &callers, wg_list<int> x, wg_results<bool> r) {
  for (size_t i = 0; i < callers.size(); i++) r[i] = x[i] % 2;
}
WG_HANDLER(to_short, wg_callers &callers, wg_list<int> x, wg_results<short> r) {
  for (size_t i = 0; i < callers.size(); i++) r[i] = (short)-x[i];
}
WG_HANDLER(to_double, wg_callers &callers, wg_list<float> x, wg_results<double> r) {
  for (size_t i = 0; i < callers.size(); i++) r[i] = x[i] / 8;
}
WG_HANDLER(to_wide, wg_callers &callers, wg_list<int> x, wg_results<Wide> r) {
  for (size_t i = 0; i < callers.size(); i++) r[i] = Wide{0.25 * x[i], 10000};
}
WG_HANDLER(no_parameter, wg_callers &callers, wg_results<unsigned long long> r) {
  for (size_t i = 0; i < callers.size(); i++) r[i] = 1ull << 33;
}

static void in_c_handler(wg_interrupt *call, void *user) {
  const int *a = static_cast<const int *>(wg_host_values(call, 0)),
            *b = static_cast<const int *>(wg_host_values(call, 1));
  printf("%s: %s of %zu:", static_cast<const char *>(user), call->name, call->count);
  for (size_t i = 0; i < call->count; i++) printf(" %d/%d", a[i], b[i]);
  printf("\n");
}

int main() {
  enum { N = 4 };
  double *out, host[N];
  int *data;
  char user[] = "user";
  wg_interrupt_handler("in_c", in_c_handler, user);
  cudaMalloc(&out, sizeof host);
  cudaMalloc(&data, 64);
  kernel<<<1, N>>>(out, data);
  cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost);
  for (int i = 0; i < N; i++) printf("%.4f\n", host[i]);
  printf("%s\n", cudaGetErrorString(cudaGetLastError()));
  cudaFree(out);
  cudaFree(data);
}
