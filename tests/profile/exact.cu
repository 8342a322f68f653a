// Accesses of many patterns and sizes. Prints what each kernel's requests must come to, computed on
// the host from the same functions, as "KERNEL REQUESTS UNITS": sectors of 32 bytes for global
// memory, wavefronts for shared memory.
#include <cstdio>
#include <set>

template <int B> struct Element;
template <> struct Element<1> { using T = unsigned char; };
template <> struct Element<2> { using T = unsigned short; };
template <> struct Element<4> { using T = unsigned; };
template <> struct Element<8> { using T = uint2; };
template <> struct Element<16> { using T = uint4; };

enum { PATTERNS = 22, ELEMENTS = 1 << 14, SHARED_ELEMENTS = 2048, TURNS = 3 };

__host__ __device__ unsigned hash(unsigned x) {
  x = (x ^ 61) ^ (x >> 16);
  x *= 9;
  x ^= x >> 4;
  x *= 0x27d4eb2d;
  return x ^ (x >> 15);
}

// A number that only the launch decides.
enum { BLOCKS = 3 };
__host__ __device__ int decided() {
#ifdef __CUDA_ARCH__
  return gridDim.x;
#else
  return BLOCKS;
#endif
}

// The element that thread t, at (x, y) of its block, accesses.
template <int P> __host__ __device__ int element(int t, int x, int y, int k) {
  switch (P) {
    case 0: return t;
    case 1: return t + 1 + k;
    case 2: return 2 * t;
    case 3: return 3 * t + k;
    case 4: return 7 * t;
    case 5: return 33 * x + k;
    case 6: return 5000 - t;
    case 7: return 17 + k;
    case 8: return (int)(hash((unsigned)(t + k)) % 2000);
    case 9: return 64 * x + y;
    case 10: return 40 * y + x;
    case 11: return t / 3;
    case 12: return t ^ 5;
    case 13: return (t & 15) * 16 + (t >> 4 & 15);
    case 14: return 32 * x + k;
    case 15: return 16 * x + 8 * k;
    case 16: return 9 * t + (int)(hash((unsigned)t) % 2);
    case 17: return t + k * 5;
    case 18: return t + k;
    case 19: return 3 * t + k;
    case 20: return x * decided() * 10 + k;
    default: return x * decided();
  }
}
// Some patterns leave lanes out.
template <int P> __host__ __device__ bool takes_part(int t) {
  switch (P) {
    case 2: return t < 150;
    case 11:
    case 19: return t % 5 != 0;
    case 16:
    case 18: return hash((unsigned)t) % 3 == 0;
    case 21: return hash((unsigned)t) % 4 != 0;
    default: return true;
  }
}

__device__ unsigned word(unsigned v) { return v; }
__device__ unsigned word(uint2 v) { return v.x ^ v.y; }
__device__ unsigned word(uint4 v) { return v.x ^ v.y ^ v.z ^ v.w; }
template <class T> __device__ void use(T v, T *out) {
  if (word(v) == 77) *out = v;
}

#define PLACE \
  int x = threadIdx.x, y = threadIdx.y, block = blockIdx.x; \
  int t = block * blockDim.x * blockDim.y + y * blockDim.x + x; \
  if (!takes_part<P>(t)) return

template <int P, int B> __global__ void load(const typename Element<B>::T *in,
                                             typename Element<B>::T *out) {
  PLACE;
  use(in[element<P>(t, x, y, 0)], out);
}
template <int P, int B> __global__ void store(typename Element<B>::T *out) {
  PLACE;
  out[element<P>(t, x, y, 0)] = typename Element<B>::T();
}
template <int P, int B> __global__ void loop(const typename Element<B>::T *in,
                                             typename Element<B>::T *out, int turns) {
  PLACE;
#pragma unroll 1
  for (int k = 0; k < turns; k++) use(in[element<P>(t, x, y, k)], out);
}
// One access before the loop: what is counted there must not leak into the loop.
template <int P, int B> __global__ void before(const typename Element<B>::T *in,
                                               typename Element<B>::T *out, int turns) {
  PLACE;
  unsigned sum = word(in[element<P>(t, x, y, 0)]);
#pragma unroll 1
  for (int k = 0; k < turns; k++) {
    asm volatile("" ::"l"(in) : "memory");  // it may have been written
    sum += word(in[element<P>(t, x, y, k)]);
  }
  if (sum == 77) *out = typename Element<B>::T();
}
template <int P, int B> __global__ void shared(typename Element<B>::T *out, int turns) {
  __shared__ typename Element<B>::T tile[SHARED_ELEMENTS];
  PLACE;
#pragma unroll 1
  for (int k = 0; k < turns; k++) {
    asm volatile("" ::"l"(tile) : "memory");  // it may have been written
    use(tile[element<P>(y * blockDim.x + x, x, y, k) % SHARED_ELEMENTS], out);
  }
}

static dim3 shape;

struct Sum {
  unsigned long long requests, units;
};

static unsigned wavefronts(const int *elements, const bool *active, int bytes) {
  int width = bytes < 4 ? 4 : bytes, lanes = 128 / width;
  unsigned sum = 0;
  for (int first = 0; first < 32; first += lanes) {
    std::set<int> in_bank[32];
    size_t most = 0;
    for (int l = first; l < first + lanes; l++) {
      if (!active[l]) continue;
      int granule = elements[l] * bytes / width;
      in_bank[granule % lanes].insert(granule);
    }
    for (auto &s : in_bank) most = s.size() > most ? s.size() : most;
    sum += (unsigned)most;
  }
  return sum;
}

template <int P> static Sum expect(int bytes, int turns, bool is_shared) {
  Sum sum = {};
  int threads = (int)(shape.x * shape.y);
  for (int block = 0; block < BLOCKS; block++)
    for (int first = 0; first < threads; first += 32)
      for (int k = 0; k < turns; k++) {
        std::set<long long> sectors;
        int elements[32] = {};
        bool active[32] = {}, any = false;
        for (int l = 0; l < 32 && first + l < threads; l++) {
          int in_block = first + l, x = in_block % (int)shape.x, y = in_block / (int)shape.x;
          int t = block * threads + in_block;
          if (!takes_part<P>(t)) continue;
          elements[l] = is_shared ? element<P>(in_block, x, y, k) % SHARED_ELEMENTS
                                  : element<P>(t, x, y, k);
          active[l] = any = true;
          sectors.insert((long long)elements[l] * bytes / 32);
        }
        sum.requests += any;
        sum.units += is_shared ? wavefronts(elements, active, bytes) : sectors.size();
      }
  return sum;
}

static void print(const char *name, int p, int b, Sum s) {
  printf("%s<%d,%d> %llu %llu\n", name, p, b, s.requests, s.units);
}

template <int P, int B> static void run_one(void *memory) {
  using T = typename Element<B>::T;
  T *data = (T *)memory, *out = data + ELEMENTS - 1;
  load<P, B><<<BLOCKS, shape>>>(data, out);
  store<P, B><<<BLOCKS, shape>>>(data);
  loop<P, B><<<BLOCKS, shape>>>(data, out, TURNS);
  before<P, B><<<BLOCKS, shape>>>(data, out, TURNS);
  Sum first = expect<P>(B, 1, false), all = expect<P>(B, TURNS, false);
  print("load", P, B, first);
  print("store", P, B, first);
  print("loop", P, B, all);
  print("before", P, B, {first.requests + all.requests, first.units + all.units});
  if (B <= 8 || P < 12) {
    shared<P, B><<<BLOCKS, shape>>>(out, TURNS);
    print("shared", P, B, expect<P>(B, TURNS, true));
  }
}

template <int P> static void run_all(void *memory) {
  run_one<P, 1>(memory);
  run_one<P, 2>(memory);
  run_one<P, 4>(memory);
  run_one<P, 8>(memory);
  run_one<P, 16>(memory);
  if constexpr (P + 1 < PATTERNS) run_all<P + 1>(memory);
}

int main(int argc, char **argv) {
  void *memory;
  int x = 64, y = 2;
  if (argc > 1) sscanf(argv[1], "%dx%d", &x, &y);
  shape = dim3((unsigned)x, (unsigned)y);
  cudaMalloc(&memory, ELEMENTS * 16);
  cudaMemset(memory, 0, ELEMENTS * 16);
  run_all<0>(memory);
  return cudaDeviceSynchronize() != cudaSuccess;
}
