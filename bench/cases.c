/* The benchmark program: cases FOLDER SIZE [CASE]. FOLDER holds ptx/ and opencl/; SIZE is `full` or
 * `small`. Prints a line for each case: name, inner iterations of one launch, seconds of the
 * fastest launch, `ok` or `WRONG`. Compiled once with each backend. Further cases: `empty` (opens
 * the device only), `many` (100 million threads). */
#include "backend.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#define ARGUMENT(x) {&(x), sizeof(x)}

static const char *folder;

/* With BENCH_CPU_TIME set, the processor time of all threads: for comparisons on a busy machine. */
static double now(void)
{
    struct timespec t;
    clock_gettime(getenv("BENCH_CPU_TIME") ? CLOCK_PROCESS_CPUTIME_ID : CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static unsigned next_random(unsigned *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

static float *random_floats(size_t n)
{
    unsigned seed = 1;
    float *numbers = malloc(n * sizeof *numbers);
    for (size_t i = 0; i < n; i++)
        numbers[i] = (float)(next_random(&seed) % 1000) * 0.001f;
    return numbers;
}

static int near(double got, double want)
{
    return fabs(got - want) <= 1e-4 * (fabs(want) + 1.0);
}

typedef struct Shape {
    size_t blocks, blocks_y, threads, threads_y;
} Shape;

/* The fastest of several launches; the first, which may compile, is not counted. */
static double fastest(void *kernel, Shape shape, Argument *arguments, int count)
{
    double best = 1e30, begin = now();
    int launches = 0;
    while (launches < 2 || (now() - begin < 1.0 && launches < 200)) {
        double start = now();
        backend_run(kernel, shape.blocks, shape.blocks_y, shape.threads, shape.threads_y, arguments,
                    count);
        double took = now() - start;
        if (launches++ > 0 && took < best)
            best = took;
    }
    return best;
}

static void report(const char *name, double iterations, double seconds, int right)
{
    printf("%s %.0f %.9f %s\n", name, iterations, seconds, right ? "ok" : "WRONG");
    fflush(stdout);
}

static void run_saxpy(int small)
{
    int n = small ? 1 << 14 : 1 << 22;
    float a = 0.5f, *x = random_floats((size_t)n), *y = calloc((size_t)n, sizeof *y);
    Buffer d_x = backend_allocate((size_t)n * 4), d_y = backend_allocate((size_t)n * 4);
    backend_write(d_x, x, (size_t)n * 4);
    backend_write(d_y, y, (size_t)n * 4);
    Argument arguments[] = {ARGUMENT(d_y), ARGUMENT(d_x), ARGUMENT(a), ARGUMENT(n)};
    void *kernel = backend_kernel(folder, "saxpy");
    Shape shape = {(size_t)n / 256, 1, 256, 1};
    double seconds = fastest(kernel, shape, arguments, 4);
    backend_write(d_y, y, (size_t)n * 4);
    backend_run(kernel, shape.blocks, 1, shape.threads, 1, arguments, 4);
    backend_read(y, d_y, (size_t)n * 4);
    int right = 1;
    for (int i = 0; i < n; i++)
        right &= y[i] == a * x[i];
    report("saxpy", n, seconds, right);
    backend_free(d_x);
    backend_free(d_y);
    free(x);
    free(y);
}

static void run_matmul(const char *name, int small)
{
    int n = small ? 32 : 512;
    size_t size = (size_t)n * (size_t)n * 4;
    float *a = random_floats((size_t)n * (size_t)n), *c = malloc(size);
    Buffer d_a = backend_allocate(size), d_b = backend_allocate(size), d_c = backend_allocate(size);
    backend_write(d_a, a, size);
    backend_write(d_b, a, size);
    Argument arguments[] = {ARGUMENT(d_c), ARGUMENT(d_a), ARGUMENT(d_b), ARGUMENT(n)};
    Shape shape = {(size_t)n / 16, (size_t)n / 16, 16, 16};
    double seconds = fastest(backend_kernel(folder, name), shape, arguments, 4);
    backend_read(c, d_c, size);
    int right = 1;
    for (int i = 0; i < 64; i++) {
        int row = i * 37 % n, column = i * 91 % n;
        double want = 0.0;
        for (int k = 0; k < n; k++)
            want += (double)a[row * n + k] * a[k * n + column];
        right &= near(c[row * n + column], want);
    }
    report(name, (double)n * n * n, seconds, right);
    backend_free(d_a);
    backend_free(d_b);
    backend_free(d_c);
    free(a);
    free(c);
}

static void run_stencil(int small)
{
    int n = small ? 64 : 2048;
    size_t size = (size_t)n * (size_t)n * 4;
    float *in = random_floats((size_t)n * (size_t)n), *out = malloc(size);
    Buffer d_in = backend_allocate(size), d_out = backend_allocate(size);
    backend_write(d_in, in, size);
    Argument arguments[] = {ARGUMENT(d_out), ARGUMENT(d_in), ARGUMENT(n)};
    Shape shape = {(size_t)n / 32, (size_t)n / 8, 32, 8};
    double seconds = fastest(backend_kernel(folder, "stencil"), shape, arguments, 3);
    backend_read(out, d_out, size);
    int right = 1;
    for (int i = 0; i < 256; i++) {
        int x = 1 + i * 37 % (n - 2), y = 1 + i * 91 % (n - 2);
        double want = 0.0;
        for (int d = 0; d < 9; d++)
            want += in[(y + d / 3 - 1) * n + x + d % 3 - 1];
        right &= near(out[y * n + x], want / 9.0);
    }
    report("stencil", 9.0 * n * n, seconds, right);
    backend_free(d_in);
    backend_free(d_out);
    free(in);
    free(out);
}

static void run_nbody(int small)
{
    int n = small ? 256 : 8192;
    size_t size = (size_t)n * 16;
    float *body = random_floats((size_t)n * 4), *force = malloc(size);
    Buffer d_body = backend_allocate(size), d_force = backend_allocate(size);
    backend_write(d_body, body, size);
    Argument arguments[] = {ARGUMENT(d_force), ARGUMENT(d_body), ARGUMENT(n)};
    Shape shape = {(size_t)n / 256, 1, 256, 1};
    double seconds = fastest(backend_kernel(folder, "nbody"), shape, arguments, 3);
    backend_read(force, d_force, size);
    int right = 1;
    for (int i = 0; i < n; i += n / 16) {
        double want = 0.0;
        for (int j = 0; j < n; j++) {
          double dx = body[4 * j] - body[4 * i], dy = body[4 * j + 1] - body[4 * i + 1],
                 dz = body[4 * j + 2] - body[4 * i + 2];
          want += dx * body[4 * j + 3] * pow(dx * dx + dy * dy + dz * dz + 0.01, -1.5);
        }
        right &= fabs(force[4 * i] - want) <= 1e-3 * (fabs(want) + n * 0.01);
    }
    report("nbody", (double)n * n, seconds, right);
    backend_free(d_body);
    backend_free(d_force);
    free(body);
    free(force);
}

static void run_histogram(int small)
{
    int n = small ? 1 << 14 : 1 << 22;
    unsigned *in = malloc((size_t)n * 4), bins[256], want[256] = {0}, seed = 5;
    for (int i = 0; i < n; i++)
        want[(in[i] = next_random(&seed)) & 255]++;
    Buffer d_in = backend_allocate((size_t)n * 4), d_bins = backend_allocate(sizeof bins);
    memset(bins, 0, sizeof bins);
    backend_write(d_in, in, (size_t)n * 4);
    Argument arguments[] = {ARGUMENT(d_bins), ARGUMENT(d_in), ARGUMENT(n)};
    void *kernel = backend_kernel(folder, "histogram");
    Shape shape = {small ? 4 : 64, 1, 256, 1};
    backend_write(d_bins, bins, sizeof bins);
    double seconds = fastest(kernel, shape, arguments, 3);
    backend_write(d_bins, bins, sizeof bins);
    backend_run(kernel, shape.blocks, 1, shape.threads, 1, arguments, 3);
    backend_read(bins, d_bins, sizeof bins);
    report("histogram", n, seconds, memcmp(bins, want, sizeof want) == 0);
    backend_free(d_in);
    backend_free(d_bins);
    free(in);
}

/* A square of floats through tiles of 16 by 16; one iteration is one element. */
static void run_transpose(int small)
{
    int n = small ? 128 : 2048, wrong = 0;
    size_t bytes = (size_t)n * n * sizeof(float);
    float *in = random_floats((size_t)n * n), *out = malloc(bytes);
    Buffer d_in = backend_allocate(bytes), d_out = backend_allocate(bytes);
    backend_write(d_in, in, bytes);
    Argument arguments[] = {ARGUMENT(d_out), ARGUMENT(d_in), ARGUMENT(n)};
    Shape shape = {(size_t)n / 16, (size_t)n / 16, 16, 16};
    double seconds = fastest(backend_kernel(folder, "transpose"), shape, arguments, 3);
    backend_read(out, d_out, bytes);
    for (int i = 0; i < n * n; i++)
        wrong += out[i] != in[i % n * n + i / n];
    report("transpose", (double)n * n, seconds, wrong == 0);
    backend_free(d_in);
    backend_free(d_out);
    free(in);
    free(out);
}

/* Sums of blocks; one iteration is one element. */
static void run_reduce(int small)
{
    int n = small ? 1 << 14 : 1 << 22, blocks = small ? 4 : 64, sums[64], *in;
    unsigned seed = 7;
    long want = 0, got = 0;
    in = malloc((size_t)n * 4);
    for (int i = 0; i < n; i++)
        want += in[i] = (int)(next_random(&seed) % 100);
    Buffer d_in = backend_allocate((size_t)n * 4), d_out = backend_allocate(sizeof sums);
    backend_write(d_in, in, (size_t)n * 4);
    Argument arguments[] = {ARGUMENT(d_out), ARGUMENT(d_in), ARGUMENT(n)};
    Shape shape = {(size_t)blocks, 1, 256, 1};
    double seconds = fastest(backend_kernel(folder, "reduce"), shape, arguments, 3);
    backend_read(sums, d_out, (size_t)blocks * 4);
    for (int i = 0; i < blocks; i++)
        got += sums[i];
    report("reduce", n, seconds, got == want);
    backend_free(d_in);
    backend_free(d_out);
    free(in);
}

/* Prints the peak memory of the process in KiB before and after a launch of 100 million threads. */
static void run_many(void)
{
    unsigned n = 100 * 1000 * 1000, out = 0;
    struct rusage before, after;
    Buffer d_out = backend_allocate(4);
    backend_write(d_out, &out, 4);
    Argument arguments[] = {ARGUMENT(d_out), ARGUMENT(n)};
    void *kernel = backend_kernel(folder, "many");
    getrusage(RUSAGE_SELF, &before);
    double start = now();
    backend_run(kernel, n / 256, 1, 256, 1, arguments, 2);
    double seconds = now() - start;
    getrusage(RUSAGE_SELF, &after);
    backend_read(&out, d_out, 4);
    printf("many %ld %ld %.3f %s\n", before.ru_maxrss, after.ru_maxrss, seconds,
           out == n - 1 ? "ok" : "WRONG");
}

int main(int argc, char **argv)
{
    if (argc < 3) {
        fprintf(stderr, "usage: %s FOLDER full|small [CASE]\n", argv[0]);
        return 2;
    }
    folder = argv[1];
    int small = strcmp(argv[2], "small") == 0;
    const char *only = argc > 3 ? argv[3] : NULL;
    backend_open();
    if (!only || !strcmp(only, "saxpy"))
        run_saxpy(small);
    if (!only || !strcmp(only, "matmul_naive"))
        run_matmul("matmul_naive", small);
    if (!only || !strcmp(only, "matmul_tiled"))
        run_matmul("matmul_tiled", small);
    if (!only || !strcmp(only, "stencil"))
        run_stencil(small);
    if (!only || !strcmp(only, "nbody"))
        run_nbody(small);
    if (!only || !strcmp(only, "histogram"))
        run_histogram(small);
    if (!only || !strcmp(only, "transpose"))
        run_transpose(small);
    if (!only || !strcmp(only, "reduce"))
        run_reduce(small);
    if (only && !strcmp(only, "many"))
        run_many();
    return 0;
}
