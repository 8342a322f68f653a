/* Merge sort by ranks, one launch for each doubling of the sorted runs. Two bugs: see README.md. */
#include "../example.h"

#include <limits.h>
#include <string.h>

#define KEYS 5000
#define SMALLEST_AT 4013

/* Runs of sz keys of a are sorted; neighbouring runs are merged into runs of 2*sz keys of b.
 * Each thread finds the place of its key by a binary search in the neighbouring run. */
__global__ void bsmerge(int *b, const int *a, int n, int sz)
{
    int id = blockIdx.x * blockDim.x + threadIdx.x;
    if (id > n) /* bug 2: thread n goes on, one element past the end */
        return;
    int k0 = a[id];
    /* Among equal keys the left run's come first: a right run's key is looked up as one less. */
    int k = k0 - ((id & sz) != 0); /* bug 1: overflows when k0 is INT_MIN */
    int l0 = (id ^ sz) & ~(sz - 1);
    int l = l0, r = min(l0 + sz, n) - 1;
    while (l <= r) {
        int m = (l + r) >> 1;
        int rk = a[m];
        if (rk <= k)
            l = m + 1;
        else
            r = m - 1;
    }
    /* (l - l0) keys of the neighbouring run come before this one */
    b[(id & ~sz) + (l - l0)] = k0;
}

static void msort(int *b, int *a, int n)
{
    int blocks = (n + 255) >> 8;
    int *target = b;
    for (int sz = 1; sz < n; sz += sz) {
        bsmerge<<<blocks, 256>>>(b, a, n, sz);
        int *swap = a;
        a = b;
        b = swap;
    }
    must_finish("bsmerge");
    if (target != a)
        must(cudaMemcpy(target, a, n * sizeof(int), cudaMemcpyDeviceToDevice), "copy on the device");
}

static int compare(const void *x, const void *y)
{
    int a = *(const int *)x, b = *(const int *)y;
    return (a > b) - (a < b);
}

int main(void)
{
    static int keys[KEYS], sorted[KEYS], expected[KEYS];
    unsigned seed = 1;
    for (int i = 0; i < KEYS; i++)
        keys[i] = (int)next_random(&seed) - (1 << 23);
    keys[SMALLEST_AT] = INT_MIN;
    memcpy(expected, keys, sizeof keys);
    qsort(expected, KEYS, sizeof(int), compare);

    int *a, *b;
    must(cudaMalloc(&a, sizeof keys), "cudaMalloc");
    must(cudaMalloc(&b, sizeof keys), "cudaMalloc");
    must(cudaMemcpy(a, keys, sizeof keys, cudaMemcpyHostToDevice), "copy to the device");
    msort(b, a, KEYS);
    must(cudaMemcpy(sorted, b, sizeof sorted, cudaMemcpyDeviceToHost), "copy to the host");
    must(cudaFree(a), "cudaFree");
    must(cudaFree(b), "cudaFree");

    int smallest_first = sorted[0] == INT_MIN;
    int right = memcmp(sorted, expected, sizeof sorted) == 0;
    qsort(sorted, KEYS, sizeof(int), compare);
    int all_there = memcmp(sorted, expected, sizeof sorted) == 0;
    printf("merge sort of %d keys, the smallest at index %d\n", KEYS, SMALLEST_AT);
    printf("  the smallest key comes first: %s\n", smallest_first ? "yes" : "NO");
    printf("  all keys are still there:     %s\n", all_there ? "yes" : "NO");
    printf("  sorted:                       %s\n", right ? "yes" : "NO");
    return 0;
}
