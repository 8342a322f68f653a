// Fetches from textures over linear memory: outside of it a device gives zero, which nobody
// notices.
#include <cstdio>
#include <cstdlib>
#define OK(call) \
  do { \
    cudaError_t e = (call); \
    if (e != cudaSuccess) { \
      printf("%s\n", cudaGetErrorString(e)); \
      exit(1); \
    } \
  } while (0)
#ifndef MORE
#define MORE 1
#endif

__global__ void sum(cudaTextureObject_t a, cudaTextureObject_t b, float *out, int n) {
  float s = 0;
  for (int turn = 0; turn < n; turn++) {
    int i = (int)threadIdx.x + turn - MORE;  // the first thread begins at -1 …
    int at = i + (turn == n - 1 ? 2 * MORE : 0);  // … and the last ends one behind the end
    s += tex1Dfetch<float>(a, at);                // finds: oob-read count=2
    if (i >= 0 && i < n / 4) s += tex1Dfetch<float4>(b, i).w;
  }
  out[threadIdx.x] = s;
}

__global__ void late(cudaTextureObject_t t, float *out) {
  out[threadIdx.x] = tex1Dfetch<float>(t, threadIdx.x);  // finds: use-after-free count=8
}

static cudaTextureObject_t over(float *p, int channels, int bytes) {
  cudaResourceDesc r = {}; cudaTextureDesc d = {}; cudaTextureObject_t t;
  r.resType = cudaResourceTypeLinear; r.res.linear.devPtr = p; r.res.linear.sizeInBytes = bytes;
  r.res.linear.desc = channels == 4 ? cudaCreateChannelDesc<float4>()
                                    : cudaCreateChannelDesc<float>();
  d.readMode = cudaReadModeElementType;
  OK(cudaCreateTextureObject(&t, &r, &d, NULL));
  return t;
}

int main() {
  enum { N = 64, THREADS = 8 };
  float *a, *b, *out, h[N], got[THREADS];
  for (int i = 0; i < N; i++) h[i] = (float)i;
  OK(cudaMalloc(&a, N * 4)); OK(cudaMalloc(&b, N * 4)); OK(cudaMalloc(&out, sizeof got));
  OK(cudaMemcpy(a, h, sizeof h, cudaMemcpyDefault));
  OK(cudaMemcpy(b, h, sizeof h, cudaMemcpyDefault));
  cudaTextureObject_t whole = over(a, 1, N * 4), fours = over(b, 4, N * 4),
                      other = over(b, 1, N * 4);
  sum<<<1, THREADS>>>(whole, fours, out, N - THREADS + 1);
  OK(cudaMemcpy(got, out, sizeof got, cudaMemcpyDefault));
  printf("%g %g\n", got[0], got[THREADS - 1]);
  OK(cudaDestroyTextureObject(fours));
  if (MORE) OK(cudaFree(b));
  late<<<1, THREADS>>>(other, out);
  OK(cudaMemcpy(got, out, sizeof got, cudaMemcpyDefault));
  printf("%g\n", MORE ? 0 : got[7]);
}
