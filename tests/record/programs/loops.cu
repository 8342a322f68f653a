// Loops and straight code whose operations go into one record together on a GPU, and what must not
// be mistaken for it.
#include <cstdio>
#include <cstdint>

enum { N = 64, LONG = 1500 };

// loads only: pointers that move by constants and by registers
__global__ void multiply(float *c, const float *a, const float *b, int n) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  float sum = 0;
  for (int k = 0; k < n; k++) sum += a[y * n + k] * b[k * n + x];
  c[y * n + x] = sum;
}

// more turns than one record holds; turns differ from lane to lane
__global__ void triangle(int *out, const int *in, int n) {
  int i = threadIdx.x, sum = 0;
#pragma unroll 1
  for (int k = 0; k < n - i * 7; k++) sum += in[k];
#pragma unroll 1
  for (int k = i; k < n; k += blockDim.x) sum ^= in[k];
  out[i] = sum;
}

// two ways out, a load that not every turn makes, a turn that steps back
__global__ void searches(int *out, const int *in, int n) {
  int i = threadIdx.x, at = -1;
#pragma unroll 1
  for (int k = 0; k < n; k++) {
    int v = in[k];
    if (v == i * 3) { at = k; break; }
    if (v == 1000000 + i) return;
  }
  int sum = 0;
#pragma unroll 1
  for (int k = 0; k < n / 8; k++)
    if ((k + i) % 5 != 0) sum += in[(k * 11) & (n - 1)];
  out[i] = at + sum;
}

// an index of 32 bits that wraps
__global__ void wraps(int *out, const int *in) {
  unsigned i = threadIdx.x;
  int sum = 0;
#pragma unroll 1
  for (unsigned k = i + 0xfffffff0u; k != i + 16; k++) sum += in[(k + 16u) & 0xffffffffu & 127u];
#pragma unroll 1
  for (unsigned k = i + 20; k-- > i;) sum += in[k];
  out[i] = sum;
}

// rows of different lengths, as sparse matrices have them
__global__ void rows(float *out, const int *start, const int *column, const float *value,
                     const float *x) {
  int r = threadIdx.x;
  float sum = 0;
  for (int k = start[r]; k < start[r + 1]; k++) sum += value[k] * x[column[k]];
  out[r] = sum;
}

// stores between loads: the order of each thread is the program's
__global__ void accumulate(float *c, const float *a, const float *b, float alpha) {
  int x = threadIdx.x & 31, y = blockIdx.x * 2 + (threadIdx.x >> 5);
  c[y * N + x] *= 3.0f;
  for (int k = 0; k < N; k++) c[y * N + x] += alpha * a[y * N + k] * b[k * N + x];
}

// what a load finds was written by this thread, by the launch before, and is what records hide
// their words with
__global__ void key(unsigned *out, unsigned *in, int n) {
  int i = threadIdx.x;
  for (int k = 0; k < n; k++) {
    unsigned v = in[k * 32 + i];
    out[k * 32 + i] = v ^ (k == 3 ? v ^ 0x5A7C3E19u : 0u);
    in[k * 32 + i] = out[k * 32 + i] + 1;
  }
  __syncwarp();
  if (i < 3) {                               // fewer lanes than the units of a record
    unsigned a = in[i], b = in[i + 40], d = in[i + 80], e = out[i + 7];
    out[i] = a + b, out[i + 50] = d + e, out[2 * i + 70] = b;
  }
  __syncwarp();
  if (i % 4 == 1) {                          // lanes with gaps
    unsigned a = in[3 * i], b = out[5 * i];
    out[i * 9 + 1] = a * b, in[i * i] = b;
  }
}

__global__ void shared_tiles(float *c, const float *a, const float *b) {
  __shared__ float s[8][8], t[8][8];
  int x = threadIdx.x, y = threadIdx.y;
  float sum = 0;
  for (int k = 0; k < N; k += 8) {
    s[y][x] = a[y * N + k + x];
    t[y][x] = b[(k + y) * N + x];
    __syncthreads();
    for (int i = 0; i < 8; i++) sum += s[y][i] * t[i][x];
    __syncthreads();
  }
  c[y * N + x] = sum;
}

struct __align__(16) Four { float x, y, z, w; };
__global__ void wide(Four *out, const Four *in, const double *d, const uint8_t *bytes,
                     const uint16_t *halves) {
  int i = threadIdx.x;
  Four sum = in[i];
  double e = 0;
  for (int k = 0; k < 6; k++) {
    Four v = in[(k * 32 + i)];
    sum.x += v.x, sum.y += v.y, sum.z += v.z, sum.w += v.w + bytes[k * 32 + i] + halves[k * 32 + i];
    e += d[k * 32 + i];
  }
  sum.x += (float)e;
  out[i] = sum;
}

template <class T> static T *filled(int n, T (*f)(int)) {
  T *h = new T[n], *d;
  for (int i = 0; i < n; i++) h[i] = f(i);
  cudaMalloc(&d, sizeof(T) * n);
  cudaMemcpy(d, h, sizeof(T) * n, cudaMemcpyHostToDevice);
  delete[] h;
  return d;
}

template <class T> static void print(const char *name, T *d, int n) {
  T *h = new T[n];
  cudaMemcpy(h, d, sizeof(T) * n, cudaMemcpyDeviceToHost);
  unsigned sum = 0;
  for (size_t i = 0; i < sizeof(T) * n; i++) sum = sum * 31 + ((uint8_t *)h)[i];
  printf("%s %08x\n", name, sum);
  delete[] h;
}

int main() {
  float *a = filled<float>(N * N, [](int i) { return (float)(i % 17); }),
        *b = filled<float>(N * N, [](int i) { return (float)(i % 5) - 2; });
  float *c = filled<float>(N * N, [](int i) { return 0.5f * i; }),
        *e = filled<float>(N * N, [](int i) { return 0.0f; });
  int *in = filled<int>(2048, [](int i) { return i * 5 % 1024; }),
      *out = filled<int>(2048, [](int i) { return 0; });
  int *start = filled<int>(40, [](int i) { return i * i % 7 + i * 4; }),
      *column = filled<int>(256, [](int i) { return i * 37 % N; });
  unsigned *u = filled<unsigned>(2048, [](int i) { return i % 9 ? (unsigned)i : 0x5A7C3E19u; }),
           *v = filled<unsigned>(2048, [](int i) { return 7u; });
  Four *f = filled<Four>(256,
                         [](int i) {
                           return Four{(float)i, 1, 2, 3};
                         }),
       *g = filled<Four>(64, [](int i) { return Four{}; });
  double *d = filled<double>(256, [](int i) { return i * 0.25; });
  uint8_t *bytes = filled<uint8_t>(256, [](int i) { return (uint8_t)i; });
  uint16_t *halves = filled<uint16_t>(256, [](int i) { return (uint16_t)(i * 3); });
  multiply<<<dim3(2, 2), dim3(16, 4)>>>(e, a, b, 32);
  multiply<<<dim3(2, 2), dim3(16, 4)>>>(c, e, b, 32);          // one of them was written before
  triangle<<<1, 48>>>(out, in, LONG);
  searches<<<1, 40>>>(out, in, 1024);
  wraps<<<1, 64>>>(out, in);
  rows<<<1, 33>>>(c, start, column, a, b);
  accumulate<<<3, 64>>>(c, a, b, 0.5f);
  accumulate<<<3, 1>>>(c, c, b, 0.5f);                         // what it reads it writes
  key<<<1, 32>>>(v, u, 9);
  shared_tiles<<<1, dim3(8, 8)>>>(e, a, b);
  wide<<<1, 32>>>(g, f, d, bytes, halves);
  print("c", c, N * N), print("e", e, N * N), print("out", out, 2048), print("u", u, 2048),
      print("v", v, 2048), print("g", g, 64);
  printf("%s\n", cudaGetErrorString(cudaGetLastError()));
}
