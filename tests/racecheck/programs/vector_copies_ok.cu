// Compilers such as Triton give several lanes, and several warps, copies of the same elements, and
// all of them store these, as vectors: at most a warning, whatever the width of the stores.
#include <cstdint>
#include <cstdio>

#define AT(p) ((uint32_t)__cvta_generic_to_shared(p))
#define ST4(p, a, b, c, d) \
  asm volatile("st.shared.v4.b32 [%0], {%1, %2, %3, %4};" ::"r"(AT(p)), "r"(a), "r"(b), "r"(c), \
               "r"(d) \
               : "memory")
#define ST2(p, a, b) \
  asm volatile("st.shared.v2.b32 [%0], {%1, %2};" ::"r"(AT(p)), "r"(a), "r"(b) : "memory")
#define ST1(p, a) asm volatile("st.shared.b32 [%0], %1;" ::"r"(AT(p)), "r"(a) : "memory")
#define STH(p, a) \
  asm volatile("st.shared.b16 [%0], %1;" ::"r"(AT(p)), "h"((uint16_t)(a)) : "memory")
#define STH4(p, a, b, c, d) \
  asm volatile("st.shared.v4.b16 [%0], {%1, %2, %3, %4};" ::"r"(AT(p)), "h"((uint16_t)(a)), \
               "h"((uint16_t)(b)), "h"((uint16_t)(c)), "h"((uint16_t)(d)) \
               : "memory")
#define STB(p, a) asm volatile("st.shared.b8 [%0], %1;" ::"r"(AT(p)), "r"(a) : "memory")
#define STL2(p, a, b) \
  asm volatile("st.shared.v2.b64 [%0], {%1, %2};" ::"r"(AT(p)), "l"((uint64_t)(a)), \
               "l"((uint64_t)(b)) \
               : "memory")

// a word of an input that lanes and warps hold copies of
__device__ static uint32_t element(const uint32_t *in, uint32_t i) { return in[i]; }

// Lanes 16 to 31 hold what lanes 0 to 15 hold.
__global__ void lanes(const uint32_t *in, uint32_t *out) {
  __shared__ __align__(16) uint32_t s[64];
  uint32_t t = threadIdx.x % 16;
  uint32_t a = element(in, 4 * t), b = element(in, 4 * t + 1), c = element(in, 4 * t + 2);
  ST4(&s[4 * t], a, b, c, element(in, 4 * t + 3));  // finds: race-same-value group=lanes
  __syncthreads();
  out[threadIdx.x] = s[threadIdx.x] + s[32 + threadIdx.x];
}

// All four warps hold the same.
__global__ void warps(const uint32_t *in, uint32_t *out) {
  __shared__ __align__(16) uint32_t s[128];
  uint32_t t = threadIdx.x % 32;
  for (int turn = 0; turn < 3; turn++) {
    uint32_t a = element(in, 4 * t) + turn, b = element(in, 4 * t + 1), c = element(in, 4 * t + 2);
    // finds-next: race-same-value group=warps
    ST4(&s[4 * t], a, b, c, element(in, 4 * t + 3) * turn);
    __syncthreads();
    out[threadIdx.x] += s[127 - threadIdx.x];
    __syncthreads();
  }
}

// Pairs of 8 bytes and of 4, in two warps.
__global__ void pairs(const uint32_t *in, uint64_t *out) {
  __shared__ __align__(16) uint64_t s[64];
  __shared__ __align__(16) uint32_t w[64];
  uint32_t t = threadIdx.x % 32;
  // finds-next: race-same-value group=pairs
  STL2(&s[2 * t], (uint64_t)element(in, t) << 32 | t, element(in, t + 1));
  // finds-next: race-same-value group=halves
  ST2(&w[2 * t], element(in, 2 * t), element(in, 2 * t + 1));
  __syncthreads();
  out[threadIdx.x] = s[63 - threadIdx.x] + w[threadIdx.x];
}

// Some lanes store by vectors what others store by words, and by smaller parts.
__global__ void widths(const uint32_t *in, uint32_t *out) {
  __shared__ __align__(16) uint32_t s[32];
  uint32_t t = threadIdx.x % 8, group = threadIdx.x / 8;
  uint32_t a = element(in, 4 * t), b = element(in, 4 * t + 1), c = element(in, 4 * t + 2);
  uint32_t d = element(in, 4 * t + 3);
  if (group == 0) ST4(&s[4 * t], a, b, c, d);  // finds: race-same-value group=widths
  if (group == 1) {
    // finds-next: race-same-value group=widths
    ST2(&s[4 * t], element(in, 4 * t), element(in, 4 * t + 1));
    // finds-next: race-same-value group=widths
    ST1(&s[4 * t + 2], element(in, 4 * t + 2));
    // finds-next: race-same-value group=widths
    STH((char *)&s[4 * t + 3] + 2, element(in, 4 * t + 3) >> 16);
  }
  // finds-next: race-same-value group=widths
  if (group == 2) STB((char *)&s[4 * t + 1] + 3, element(in, 4 * t + 1) >> 24);
  // finds-next: race-same-value group=widths
  if (group == 3) STH4(&s[4 * t + 2], c, c >> 16, d, d >> 16);
  __syncthreads();
  out[threadIdx.x] = s[31 - threadIdx.x];
}

// Parts of a word, each its own: lanes 16 to 31 hold copies.
__global__ void parts(const uint32_t *in, uint32_t *out) {
  __shared__ uint8_t b[64];
  __shared__ uint16_t h[32];
  uint32_t t = threadIdx.x % 16;
  STB(&b[4 * t], element(in, t) & 255);      // finds: race-same-value group=bytes
  STH(&h[2 * t], element(in, t) & 0xffff);   // finds: race-same-value group=sixteen
  __syncthreads();
  out[threadIdx.x] = b[4 * t] + h[30 - 2 * t];
}

// The same in global memory.
__global__ void global(const uint32_t *in, uint4 *out) {
  uint32_t t = threadIdx.x % 16;
  // finds-next: race-same-value group=everywhere
  out[t] = make_uint4(element(in, t), element(in, t + 1), t, 0);
}

int main() {
  uint32_t host[256], *in, *out;
  for (int i = 0; i < 256; i++) host[i] = 2654435761u * (i + 1);
  cudaMalloc(&in, sizeof host);
  cudaMalloc(&out, 4096);
  cudaMemcpy(in, host, sizeof host, cudaMemcpyHostToDevice);
  cudaMemset(out, 0, 4096);
  lanes<<<1, 32>>>(in, out);
  warps<<<1, 128>>>(in, out);
  pairs<<<1, 64>>>(in, (uint64_t *)out);
  widths<<<1, 32>>>(in, out);
  parts<<<1, 32>>>(in, out);
  global<<<1, 64>>>(in, (uint4 *)out);
  cudaMemcpy(host, out, 512, cudaMemcpyDeviceToHost);
  uint32_t sum = 0;
  for (int i = 0; i < 64; i++) sum = sum * 31 + host[i];
  printf("%u %s\n", sum, cudaGetErrorString(cudaDeviceSynchronize()));
}
