// Races between blocks.
#include <cstdio>

__global__ void neighbour(int *a, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  // finds-next: race group=neighbour
  if (i + 64 < n) a[i] = a[i + 64] + 1;
}

__global__ void counter(int *c) {
  if (threadIdx.x == 0) *c = *c + 1;                                    // finds: race group=counter
}

__global__ void last_block(const int *in, int *partial, unsigned *done,
                           int *out) {  // __threadfence is missing
  __shared__ bool last;
  if (threadIdx.x == 0) {
    // finds-next: race group=last_block
    partial[blockIdx.x] = in[blockIdx.x];
    last = atomicAdd(done, 1u) == gridDim.x - 1;
  }
  __syncthreads();
  if (last && threadIdx.x == 0) {
    int sum = 0;
    // finds-next: race group=last_block
    for (unsigned i = 0; i < gridDim.x; i++) sum += partial[i];
    *out = sum;
  }
}

__global__ void block_fence(int *data, int *flag,
                            int *out) {  // a fence for the block, and the other is in another one
  if (blockIdx.x == 0) {
    // finds-next: race group=block_fence
    data[0] = 42;
    __threadfence_block();
    atomicExch(flag, 1);
  } else {
    while (atomicAdd(flag, 0) == 0) {}
    // finds-next: race group=block_fence
    out[0] = data[0];
  }
}

// finds-next: race group=block_atomic
__global__ void block_atomic(int *c) { atomicAdd_block(c, 1); }

__global__ void lock_without_fence(int *lock, int *total) {
  if (threadIdx.x == 0) {
    while (atomicCAS(lock, 0, 1)) {}
    // finds-next: race group=lock_without_fence
    total[0] += 1;
    atomicExch(lock, 0);
  }
}

__global__ void lock_with_one_fence(
    int *lock, int *total) {  // the fence behind the lock does not cover what comes after it
  if (threadIdx.x == 0) {
    while (atomicCAS(lock, 0, 1)) {}
    __threadfence();
    // finds-next: race group=lock_with_one_fence
    total[0] += 1;
    atomicExch(lock, 0);
  }
}

__global__ void after_release(int *data, int *flag,
                              int *out) {  // written once more behind the release
  if (blockIdx.x == 0) {
    data[0] = 1;
    __threadfence();
    atomicExch(flag, 1);
    // finds-next: race group=after_release
    data[0] = 2;
  } else {
    while (atomicAdd(flag, 0) == 0) {}
    __threadfence();
    // finds-next: race group=after_release
    out[0] = data[0];
  }
}

__global__ void no_acquire(int *data, int *flag,
                           int *out) {  // the flag is read, and no fence follows
  if (blockIdx.x == 0) {
    // finds-next: race-no-acquire group=no_acquire
    data[0] = 42;
    __threadfence();
    atomicExch(flag, 1);
  } else {
    while (atomicAdd(flag, 0) == 0) {}
    // finds-next: race-no-acquire group=no_acquire
    out[0] = data[0];
  }
}

__global__ void lock_with_last_fence(
    int *lock, int *total) {  // nothing keeps what comes after the lock from being done before it
  if (threadIdx.x == 0) {
    while (atomicCAS(lock, 0, 1)) {}
    // finds-next: race-no-acquire group=lock_with_last_fence
    total[0] += 1;
    __threadfence();
    atomicExch(lock, 0);
  }
}

__global__ void read_after_block(
    int *a, int *out) {  // block 0 writes and reads it after a barrier; others read it at any time
  if (blockIdx.x == 0) {
    // finds-next: race group=read_after_block
    a[threadIdx.x] = threadIdx.x;
    __syncthreads();
    out[threadIdx.x] = a[63 - threadIdx.x];
  // finds-next: race group=read_after_block
  } else out[blockIdx.x * 64 + threadIdx.x] = a[threadIdx.x];
}

__device__ int variable;
// finds-next: race group=of_variable
__global__ void of_variable() { variable += threadIdx.x == 0; }

// finds-next: race-same-value group=through_table
__global__ void through_table(int **table) { *table[threadIdx.x % 2] = 1; }

int main() {
  int *a, *b, *c, **table;
  cudaMalloc(&a, 1 << 16);
  cudaMalloc(&b, 1 << 16);
  cudaMalloc(&c, 1 << 16);
  cudaMalloc(&table, 16);
  cudaMemset(a, 0, 1 << 16);
  cudaMemset(b, 0, 1 << 16);
  cudaMemset(c, 0, 1 << 16);
  int *list[2] = {a, b};
  cudaMemcpy(table, list, sizeof list, cudaMemcpyHostToDevice);
  neighbour<<<8, 64>>>(a, 512);
  counter<<<8, 64>>>(a);
  last_block<<<8, 64>>>(a, b, (unsigned *)c, c + 1);
  cudaMemset(c, 0, 1 << 16);
  block_fence<<<2, 1>>>(a, c, b);
  block_atomic<<<8, 1>>>(c);
  cudaMemset(c, 0, 1 << 16);
  lock_without_fence<<<8, 32>>>(c, a);
  cudaMemset(c, 0, 1 << 16);
  lock_with_one_fence<<<8, 32>>>(c, a);
  cudaMemset(c, 0, 1 << 16);
  no_acquire<<<2, 1>>>(a, c, b);
  cudaMemset(c, 0, 1 << 16);
  lock_with_last_fence<<<8, 32>>>(c, a);
  after_release<<<2, 1>>>(a, c + 1, b);
  read_after_block<<<4, 64>>>(a, b);
  of_variable<<<8, 1>>>();
  through_table<<<8, 1>>>(table);
  printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
}
