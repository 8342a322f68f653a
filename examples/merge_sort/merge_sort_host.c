/* merge_sort_host PTX: the host part of merge_sort.cu in plain C, for machines without nvcc.
 * PTX is ptx/merge_sort.ptx or ptx/merge_sort_ok.ptx; prints what the nvcc-built program prints. */
#include "../driver.h"

#include <limits.h>
#include <string.h>

#define KEYS 5000
#define SMALLEST_AT 4013

static DevicePointer msort(void *kernel, DevicePointer b, DevicePointer a, int n)
{
    unsigned blocks = (unsigned)(n + 255) >> 8;
    DevicePointer target = b;
    for (int sz = 1; sz < n; sz += sz) {
        void *parameters[] = {&b, &a, &n, &sz};
        driver_must(cuLaunchKernel(kernel, blocks, 1, 1, 256, 1, 1, 0, NULL, parameters, NULL), "bsmerge");
        DevicePointer swap = a;
        a = b;
        b = swap;
    }
    driver_must(cuCtxSynchronize(), "bsmerge");
    if (target != a)
        driver_must(cuMemcpyDtoD(target, a, n * sizeof(int)), "copy on the device");
    return target;
}

static int compare(const void *x, const void *y)
{
    int a = *(const int *)x, b = *(const int *)y;
    return (a > b) - (a < b);
}

static unsigned next_random(unsigned *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

int main(int argc, char **argv)
{
    static int keys[KEYS], sorted[KEYS], expected[KEYS];
    if (argc != 2) {
        fprintf(stderr, "usage: %s FILE.ptx\n", argv[0]);
        return 2;
    }
    unsigned seed = 1;
    for (int i = 0; i < KEYS; i++)
        keys[i] = (int)next_random(&seed) - (1 << 23);
    keys[SMALLEST_AT] = INT_MIN;
    memcpy(expected, keys, sizeof keys);
    qsort(expected, KEYS, sizeof(int), compare);

    driver_open();
    void *kernel = driver_kernel(driver_load(argv[1]), "_Z7bsmergePiPKiii");
    DevicePointer a = driver_allocate(sizeof keys), b = driver_allocate(sizeof keys);
    driver_must(cuMemcpyHtoD(a, keys, sizeof keys), "copy to the device");
    driver_must(cuMemcpyDtoH(sorted, msort(kernel, b, a, KEYS), sizeof sorted), "copy to the host");
    driver_must(cuMemFree(a), "cuMemFree");
    driver_must(cuMemFree(b), "cuMemFree");

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
