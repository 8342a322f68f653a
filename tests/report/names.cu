// Names of buffers: what the report must call each, or that it must not call it anything. `name: I
// NAME` for hit<I>; - is no name.
#include <cuda.h>
#include <cstdio>
#include <cstdlib>

template <int I> __global__ void hit(int *p, int n) { p[n + I] = 1; }
#define N 64
#define BYTES (N * sizeof(int))
#define CHECK(call) \
  do { \
    cudaError_t e = (call); \
    if (e != cudaSuccess) { \
      printf("%s\n", cudaGetErrorString(e)); \
      exit(1); \
    } \
  } while (0)
template <int I> void use(int *p) { hit<I><<<1, 1>>>(p, N); CHECK(cudaDeviceSynchronize()); }

struct Mesh { int *points, *faces; int *level[3]; };
class Buffer {
 public:
  explicit Buffer(size_t n) { cudaMalloc(&data_, n); }
  int *get() const { return data_; }
 private:
  int *data_;
};

__attribute__((noinline)) static int *make(size_t n) {
  int *p;
  CHECK(cudaMalloc(&p, n));
  return p;
}
template <class T> __attribute__((noinline)) T *make_some(size_t n) {
  T *fresh = nullptr;
  CHECK(cudaMalloc((void **)&fresh, n * sizeof(T)));
  return fresh;
}
__attribute__((noinline)) static void put(size_t n, int **to) { CHECK(cudaMalloc((void **)to, n)); }
__attribute__((noinline)) static int count_all(size_t n) {
  int *lost;
  CHECK(cudaMalloc(&lost, n));
  use<12>(lost);
  return 1;
}

int main() {
  int *plain, *spread, *cast, *managed, *a, *b, *returned, *given;
  Mesh mesh, *other = &mesh;
  CUdeviceptr driver;
  CHECK(cudaMalloc(&plain, BYTES));                                             // name: 0 plain
  use<0>(plain);
  CHECK(cudaMalloc(                                                             // name: 1 spread
      &spread,
      BYTES));
  use<1>(spread);
  CHECK(cudaMalloc(reinterpret_cast<void **>(&cast), BYTES));                   // name: 2 cast
  use<2>(cast);
  cudaMallocManaged(&managed, BYTES /* &not_this */);                           // name: 3 managed
  use<3>(managed);
  // name-next: 4 mesh.points
  CHECK(cudaMalloc(&mesh.points, BYTES));
  use<4>(mesh.points);
  // name-next: 5 other->level[2]
  CHECK(cudaMalloc((void **)&other->level[2], BYTES));
  use<5>(mesh.level[2]);
  cudaMalloc(&a, BYTES); cudaMalloc(&b, BYTES);                                 // name: 6 -
  use<6>(b);
  returned = make(BYTES);                                                       // name: 7 returned
  use<7>(returned);
  put(BYTES, &given);                                                           // name: 8 given
  use<8>(given);
  Buffer buffer(BYTES);                                                         // name: 9 data_
  use<9>(buffer.get());
  use<10>(make_some<int>(N));                                                   // name: 10 fresh
  int *tabs	= make_some<int>(N);                                                // name: 11 tabs
  use<11>(tabs);
  int errors = count_all(BYTES);                                                // name: 12 lost
  cuMemAlloc(&driver, BYTES);                                                   // name: 13 driver
  use<13>((int *)driver);
  int **table = (int **)malloc(sizeof *table);
  CHECK(cudaMalloc(table, BYTES));                                              // name: 14 -
  use<14>(table[0]);
  return errors - 1;
}
