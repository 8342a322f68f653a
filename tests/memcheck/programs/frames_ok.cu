// nvcc: -G
// The same frames used right: structures, rows of one array, pointers that are moved and passed on,
// copies, scopes, recursion.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#define OK(call) \
  do { \
    cudaError_t e = (call); \
    if (e != cudaSuccess) { \
      printf("%s\n", cudaGetErrorString(e)); \
      exit(1); \
    } \
  } while (0)
struct Point { float x, y; short tag[4]; };
struct Base { int a[3]; virtual __device__ int sum() const { return a[0] + a[1] + a[2]; } };
struct More : Base {
  int b[5];
  __device__ int sum() const override {
    int s = 0;
    for (int v : b) s += v;
    return s + Base::sum();
  }
};
union Mixed { unsigned char bytes[16]; double d[2]; };

__device__ int total(const int *p, int n) {
  int s = 0;
  for (const int *end = p + n; p != end; p++) s += *p;
  return s;
}
__device__ void fill(Point *p, int n) {
  for (int i = 0; i < n; i++, p++) {
    p->x = i;
    p->y = -i;
    for (int k = 0; k < 4; k++) p->tag[k] = (short)(i * k);
  }
}
__device__ int deep(int n) {
  int own[7];
  for (int i = 0; i < 7; i++) own[i] = i * n;
  return n ? own[n % 7] + deep(n - 1) : own[6];
}
template <int N> __device__ void turn(float (&m)[N][N]) {
  for (int i = 0; i < N; i++)
    for (int j = 0; j < i; j++) {
      float t = m[i][j];
      m[i][j] = m[j][i];
      m[j][i] = t;
    }
}
__device__ Point made(int i) { Point p = {(float)i, 2.f * i, {1, 2, 3, 4}}; return p; }

__global__ void each(int *out, int n) {
  int first[4], second[6], i = threadIdx.x;
  float table[3][3];
  Point points[5], one = made(i), *last = &points[4];
  Mixed m;
  More more;
  for (int k = 0; k < 4; k++) first[k] = k;
  for (int k = 6; k-- > 0;) second[k] = k;
  for (int k = 0; k < 9; k++) (&table[0][0])[k] = k;
  turn(table);
  fill(points, 5);
  m.d[1] = 1.5;
  for (int k = 0; k < 8; k++) m.bytes[k] = (unsigned char)k;
  memcpy(points + 1, &one, sizeof one);
  memset(&points[2], 0, 2 * sizeof(Point));
  for (int k = 0; k < 3; k++) more.a[k] = k;
  for (int k = 0; k < 5; k++) more.b[k] = k;
  const Base *base = &more;
  int s = total(first, 4) + total(second + 1, 5) + deep(n) + base->sum() + m.bytes[15] +
          last->tag[3] + (int)table[2][n - 2] + (int)points[i % 5].y;
  { long inner[3] = {1, 2, 3}; s += (int)inner[n - 2]; }
  { char inner[24]; for (int k = 0; k < 24; k++) inner[k] = (char)k; s += inner[n * 5]; }
  int *choice = i & 1 ? first : second;
  s += choice[i % 4];
  out[i] = s;
}

int main() {
  int *out, host[32], s = 0;
  OK(cudaMalloc(&out, sizeof host));
  each<<<1, 32>>>(out, 4);
  OK(cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost));
  for (int i = 0; i < 32; i++) s += host[i];
  printf("%d\n", s);
}
