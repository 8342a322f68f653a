// Launches and sets on five streams, with events and waits between them, as the seed says:
// steps_random SEED. Prints what it does; steps_random.py knows what that orders.
#include <cstdio>
#include <cstdlib>

enum { OPERATIONS = 32, BUFFERS = 3, EVENTS = 3, STREAMS = 5, WORDS = 64 };

template <int N> __global__ void operation(int *p, int *out, int writes) {
  if (writes) p[threadIdx.x] = 1000 + N;
  else out[N * WORDS + threadIdx.x] = p[threadIdx.x];
}

static cudaStream_t
    streams[STREAMS];  // 0: the legacy default stream; 1, 2 wait for it; 3, 4 do not
static int *buffers[BUFFERS], *out;

// Each has a place of its own.
template <int N> static __attribute__((noinline)) void perform(unsigned r) {
  int stream = r % STREAMS, buffer = r / 8 % BUFFERS, what = r / 64 % 3;
  printf("%s %d %d %d\n", what == 2 ? "set" : what ? "write" : "read", N, stream, buffer);
  if (what == 2) cudaMemsetAsync(buffers[buffer], N, WORDS * 4, streams[stream]);
  else operation<N><<<1, WORDS, 0, streams[stream]>>>(buffers[buffer], out, what);
}

template <int N> struct Table {
  static void fill(void (**table)(unsigned)) {
    table[N - 1] = perform<N - 1>;
    Table<N - 1>::fill(table);
  }
};
template <> struct Table<0> { static void fill(void (**)(unsigned)) {} };

int main(int, char **argv) {
  unsigned seed = (unsigned)atoi(argv[1]);
  auto next = [&] { return (seed = seed * 1103515245 + 12345) >> 12 & 0xffff; };
  void (*table[OPERATIONS])(unsigned);
  cudaEvent_t events[EVENTS];
  bool recorded[EVENTS] = {};
  Table<OPERATIONS>::fill(table);
  for (int i = 1; i < STREAMS; i++)
    cudaStreamCreateWithFlags(&streams[i], i < 3 ? cudaStreamDefault : cudaStreamNonBlocking);
  for (int i = 0; i < EVENTS; i++) cudaEventCreateWithFlags(&events[i], cudaEventDisableTiming);
  for (int i = 0; i < BUFFERS; i++) cudaMalloc(&buffers[i], WORDS * 4);
  cudaMalloc(&out, OPERATIONS * WORDS * 4);
  cudaDeviceSynchronize();
  for (int n = 0; n < OPERATIONS; n++) {
    for (unsigned k = next() % 3; k; k--) {
      unsigned what = next() % 12, stream = next() % STREAMS, event = next() % EVENTS;
      if (what < 4)
        printf("record %u %u\n", event, stream), cudaEventRecord(events[event], streams[stream]),
            recorded[event] = true;
      else if (what < 9 && recorded[event])
        printf("wait %u %u\n", event, stream),
            cudaStreamWaitEvent(streams[stream], events[event], 0);
      else if (what == 9) printf("sync %u\n", stream), cudaStreamSynchronize(streams[stream]);
      else if (what == 10 && recorded[event])
        printf("seen %u\n", event), cudaEventSynchronize(events[event]);
      else if (what == 11 && next() % 4 == 0) printf("all\n"), cudaDeviceSynchronize();
    }
    table[n](next());
  }
  fprintf(stderr, "%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
}
