// Initialised memory of every kind: scalars, nested arrays, strings, structs, addresses, tables of
// function pointers.
struct Node { int value; const Node *next; const char *name; double weight; };
__device__ int plain = 42;
__device__ float matrix[3][4] = {{1, 2}, {3.5f, -0.0f, 1e-30f}, {0}};
__device__ unsigned char bytes[7] = {1, 2, 255};
__device__ long long big[3] = {-1, 0x123456789abcdefll};
__device__ int *pointers[3] = {&plain, nullptr, &plain};
__constant__ char text[] = "warp\n\t\"grind\"";
__constant__ double weights[5] = {0.1, 2.0 / 3, 1e300};
__device__ Node first = {1, nullptr, "first", 0.5};
__device__ Node second = {2, &first, "second", -0.25};
struct Packed { char tag; int *at; short tail[3]; };
__device__ Packed packed[2] = {{'x', &plain, {1, 2, 3}}, {'y', nullptr, {4}}};
__device__ char *inside = (char *)matrix + 20;
__managed__ int shared_with_host = 7;
__constant__ short4 vectors[2] = {{1, 2, 3, 4}, {-1, -2, -3, -4}};

__global__ void constants(double *out, int i) {
  const Node *n = i & 1 ? &first : &second;
  out[0] = (n->next ? n->next->weight : 0) + matrix[i % 3][i & 3] + bytes[i % 7] +
           (double)big[i % 3] + *pointers[i % 3] + text[i] + weights[i % 5] +
           packed[i & 1].tail[1] + *inside + shared_with_host + vectors[i & 1].z + n->name[0];
  plain = i;
}
