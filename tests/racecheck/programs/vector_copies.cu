// Lanes and warps store vectors to the same place, as in vector_copies_ok.cu, but one element is
// not a copy.
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
  ST4(&s[4 * t], a, b, c, element(in, 4 * t + 3) + (threadIdx.x >= 16));  // finds: race group=lanes
  __syncthreads();
  out[threadIdx.x] = s[threadIdx.x] + s[32 + threadIdx.x];
}

// All four warps hold the same.
__global__ void warps(const uint32_t *in, uint32_t *out) {
  __shared__ __align__(16) uint32_t s[128];
  uint32_t t = threadIdx.x % 32;
  for (int turn = 0; turn < 3; turn++) {
    uint32_t a = element(in, 4 * t) + turn, b = element(in, 4 * t + 1), c = element(in, 4 * t + 2);
    // finds-next: race group=warps
    ST4(&s[4 * t], a, b, c, element(in, 4 * t + 3) * (turn + threadIdx.x / 32));
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
  // finds-next: race group=pairs
  STL2(&s[2 * t], (uint64_t)element(in, t) << 32 | t, element(in, t + 1) + threadIdx.x / 32);
  // finds-next: race group=halves
  ST2(&w[2 * t], element(in, 2 * t), element(in, 2 * t + 1) ^ threadIdx.x);
  __syncthreads();
  out[threadIdx.x] = s[63 - threadIdx.x] + w[threadIdx.x];
}

// Some lanes store by vectors what others store by words, or by smaller parts.
__global__ void widths(const uint32_t *in, uint32_t *out) {
  __shared__ __align__(16) uint32_t s[32], w[32], v[32];
  uint32_t t = threadIdx.x % 8, group = threadIdx.x / 8, a = element(in, 4 * t),
           b = element(in, 4 * t + 1), c = element(in, 4 * t + 2), d = element(in, 4 * t + 3);
  if (group == 0) ST4(&s[4 * t], a, b, c, d);           // finds: race group=two
  if (group == 1) ST2(&s[4 * t], a, b + 256);           // finds: race group=two
  if (group == 0) ST4(&w[4 * t], a, b, c, d);           // finds: race group=one
  if (group == 1) ST1(&w[4 * t + 2], c + 1);            // finds: race group=one
  if (group == 0) STB((char *)&v[4 * t + 1] + 3, 1 ^ b >> 24);  // finds: race group=byte
  if (group == 1) ST4(&v[4 * t], a, b, c, d);           // finds: race group=byte
  __syncthreads();
  out[threadIdx.x] = s[31 - threadIdx.x] + w[threadIdx.x] + v[threadIdx.x];
}

// Parts of a word, each its own: lanes 16 to 31 hold copies.
__global__ void parts(const uint32_t *in, uint32_t *out) {
  __shared__ uint8_t b[64];
  __shared__ uint16_t h[32];
  uint32_t t = threadIdx.x % 16;
  STB(&b[4 * t], element(in, t) + threadIdx.x & 255);    // finds: race group=bytes
  STH(&h[2 * t], element(in, t) + threadIdx.x & 0xffff);  // finds: race group=sixteen
  __syncthreads();
  out[threadIdx.x] = b[4 * t] + h[30 - 2 * t];
}

// The same in global memory.
__global__ void global(const uint32_t *in, uint4 *out) {
  uint32_t t = threadIdx.x % 16;
  // finds-next: race group=everywhere
  out[t] = make_uint4(element(in, t), element(in, t + 1), t, threadIdx.x);
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
  printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
}
