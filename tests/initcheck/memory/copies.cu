// Copies of all shapes carry along which bytes were written: exactly on the virtual device, on a
// GPU a word of 4 that is written in part counts as written, and so does what was copied to another
// remainder by 4, and what is between the rows of more than 16.
#include "check.h"

static char host[1 << 16], *a, *b;  // a, b: 4096 bytes of device memory

static void bytes() {
  // nobody wrote it
  CHECK(cudaMemcpy(host, a, 4096, cudaMemcpyDeviceToHost));  // finds: uninit-copy bytes=4096
  // exactly what was written, at any alignment
  CHECK(cudaMemcpy(a + 3, host, 10, cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(host, a + 3, 10, cudaMemcpyDeviceToHost));
  CHECK(cudaMemcpy(host, a + 2, 11, cudaMemcpyDeviceToHost));  // finds-cpu: uninit-copy bytes=1
  CHECK(cudaMemcpy(host, a + 3, 11, cudaMemcpyDeviceToHost));  // finds-cpu: uninit-copy bytes=1
  // from device to device: same remainder by 4, and another
  CHECK(cudaMemcpy(b + 7, a + 3, 10, cudaMemcpyDeviceToDevice));
  CHECK(cudaMemcpy(host, b + 7, 10, cudaMemcpyDeviceToHost));
  CHECK(cudaMemcpy(host, b + 6, 12, cudaMemcpyDeviceToHost));  // finds-cpu: uninit-copy bytes=2
  CHECK(cudaMemcpy(b + 101, a + 3, 10, cudaMemcpyDeviceToDevice));
  CHECK(cudaMemcpy(host, b + 101, 10, cudaMemcpyDeviceToHost));
  CHECK(cudaMemcpy(host, b + 100, 12, cudaMemcpyDeviceToHost));  // finds-cpu: uninit-copy bytes=2
  // what was never written makes the destination unwritten again
  CHECK(cudaMemcpy(b + 7, a + 2048, 4, cudaMemcpyDefault));
  CHECK(cudaMemcpy(host, b + 7, 10, cudaMemcpyDeviceToHost));  // finds-cpu: uninit-copy bytes=4
  // several sets that cover it all
  CHECK(cudaMemset(a + 1000, 1, 3096));
  CHECK(cudaMemset(a, 1, 500));
  CHECK(cudaMemset(a + 499, 1, 502));
  CHECK(cudaMemcpy(host, a, 4096, cudaMemcpyDeviceToHost));
  CHECK(cudaMemcpy(b, a, 4096, cudaMemcpyDeviceToDevice));
  CHECK(cudaMemcpy(host, b, 4096, cudaMemcpyDeviceToHost));
}

static void rows_and_slices() {
  // rectangles: what is between the rows stays as it is
  char *c;
  size_t pitch;
  CHECK(cudaMallocPitch(&c, &pitch, 100, 20));
  CHECK(cudaMemcpy2D(c, pitch, host, 100, 100, 20, cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy2D(host, 100, c, pitch, 100, 20, cudaMemcpyDeviceToHost));
  // finds-cpu-next: uninit-copy bytes=20
  // finds-gpu-next: uninit-copy bytes=1
  CHECK(cudaMemcpy2D(host, 101, c, pitch, 101, 20, cudaMemcpyDeviceToHost));
  CHECK(cudaMemset2D(c + 100, pitch, 0, 1, 20));
  CHECK(cudaMemcpy2D(host, 101, c, pitch, 101, 20, cudaMemcpyDeviceToHost));
  CHECK(cudaFree(c));

  // boxes
  cudaExtent extent = make_cudaExtent(30, 5, 4);
  cudaPitchedPtr box;
  CHECK(cudaMalloc3D(&box, extent));
  cudaMemcpy3DParms p = {0};
  p.srcPtr = make_cudaPitchedPtr(host, 30, 30, 5);
  p.dstPtr = box;
  p.extent = make_cudaExtent(30, 5, 3);
  p.kind = cudaMemcpyHostToDevice;
  CHECK(cudaMemcpy3D(&p));
  p.srcPtr = box;
  p.dstPtr = make_cudaPitchedPtr(host, 30, 30, 5);
  p.kind = cudaMemcpyDeviceToHost;
  CHECK(cudaMemcpy3D(&p));
  p.extent = extent;
  CHECK(cudaMemcpy3D(&p));  // finds: uninit-copy bytes=150
  CHECK(cudaFree(box.ptr));
}

int main() {
  CHECK(cudaMalloc(&a, 4096));
  CHECK(cudaMalloc(&b, 4096));
  bytes();
  rows_and_slices();

  // what the host can see is born initialised
  char *managed, *pinned, *c;
  CHECK(cudaMallocManaged(&managed, 4096));
  CHECK(cudaMallocHost(&pinned, 4096));
  CHECK(cudaMemcpy(b, managed, 100, cudaMemcpyDefault));
  CHECK(cudaMemcpy(host, b, 100, cudaMemcpyDefault));
  CHECK(cudaMemcpy(host, managed, 4096, cudaMemcpyDefault));
  CHECK(cudaMemcpy(host, pinned, 4096, cudaMemcpyDefault));
  CHECK(cudaMemcpy(a, pinned, 4096, cudaMemcpyDefault));
  // in the order of a stream
  cudaStream_t s;
  CHECK(cudaStreamCreate(&s));
  CHECK(cudaMalloc(&c, 4096));
  CHECK(cudaMemcpyAsync(pinned, c, 64, cudaMemcpyDeviceToHost, s));  // finds: uninit-copy bytes=64
  CHECK(cudaMemsetAsync(c, 0, 64, s));
  CHECK(cudaMemcpyAsync(pinned, c, 64, cudaMemcpyDeviceToHost, s));
  CHECK(cudaStreamSynchronize(s));
  // pools hand out memory that was used before: it is unwritten again
  for (int i = 0; i < 3; i++) {
    char *d;
    CHECK(cudaMallocAsync(&d, 256, s));
    // finds-next: uninit-copy bytes=256
    CHECK(cudaMemcpyAsync(pinned, d, 256, cudaMemcpyDeviceToHost, s));
    CHECK(cudaMemsetAsync(d, 0, 256, s));
    CHECK(cudaMemcpyAsync(pinned, d, 256, cudaMemcpyDeviceToHost, s));
    CHECK(cudaFreeAsync(d, s));
  }
  CHECK(cudaStreamSynchronize(s));
  printf("done\n");
  return 0;
}
