// Every way to free what cannot be freed so. The calls return what they return without the tool.
// finds: invalid-free count=1
// finds: invalid-free count=1
// finds: invalid-free count=1
// finds: invalid-free count=1
// finds: invalid-free count=1
// finds: invalid-free count=3
// finds: invalid-free count=1
// finds: invalid-free count=1
// finds: invalid-free count=1
// finds: invalid-free count=1
// says: cuMemFree (cudaFree): this was freed before (invalid-free)
// never: WAS CHECKED
// says: cuMemFree (cudaFree): this points into the middle of an allocation, and only all of it can
//    be freed (invalid-free)
// says: cuMemFree (cudaFree): this points into the middle of memory that was freed before
//    (invalid-free)
// says: cuMemFree (cudaFree): nothing is allocated at this address (invalid-free)
// says: cuMemFree (cudaFree): this is host memory: it is freed by cuMemFreeHost (cudaFreeHost)
//    (invalid-free)
// says: cuMemFreeHost (cudaFreeHost): this is device memory: it is freed by cuMemFree (cudaFree)
//    (invalid-free)
// says: cuMemFreeAsync (cudaFreeAsync): this was freed before (invalid-free)
// says: cuMemHostUnregister (cudaHostUnregister): nothing is allocated at this address
//    (invalid-free)
// says: cuArrayDestroy (cudaFreeArray): this was
// says: is 40 bytes inside
// says: (tests/memcheck/heap/free_wrong.cu:{freed})
// says: (tests/memcheck/heap/free_wrong.cu:{again})
// says: (tests/memcheck/heap/free_wrong.cu:{middle})
#include <cstdio>
#include <cstdlib>
static void say(const char *what, cudaError_t e) {
  printf("%s: %s\n", what, cudaGetErrorName(e));
  cudaGetLastError();
}

int main() {
  int *a, *b, *h, *q;
  void *m = malloc(1000);
  cudaArray_t array;
  cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
  say("allocate", cudaMalloc(&b, 400));
  say("allocate", cudaMalloc(&a, 400));
  say("free", cudaFree(a));  // label: freed
  say("again", cudaFree(a));  // label: again
  say("middle", cudaFree(b + 10));  // label: middle
  say("middle of freed memory", cudaFree(a + 10));
  say("never allocated", cudaFree(m));
  cudaMallocHost(&h, 400);
  say("host memory", cudaFree(h));
  for (int i = 0; i < 3; i++) say("device memory", cudaFreeHost(b));
  cudaMallocAsync(&q, 400, 0);
  say("in order", cudaFreeAsync(q, 0));
  say("in order again", cudaFreeAsync(q, 0));
  say("in order, then plainly", cudaFree(q));
  say("unregister", cudaHostUnregister(m));
  cudaMallocArray(&array, &format, 16);
  say("array", cudaFreeArray(array));
  say("array again", cudaFreeArray(array));
  say("nothing", cudaFree(nullptr));
  say("nothing", cudaFreeHost(nullptr));
  say("good", cudaFree(b));
  say("good", cudaFreeHost(h));
}
