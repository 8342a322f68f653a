/* ptxhost [--dump=FILE] FILE.ptx: runs the launch script that is written in the comments of a PTX
 * file, through the CUDA driver API (whatever libcuda.so.1 is found: the virtual device's under
 * warpgrind, the real one without).
 *
 *   //! buffer NAME TYPE COUNT FILL     TYPE: u8 s8 b8 … u64 s64 b64 f16 bf16 f32 f64. COUNT * : as
 * many as the fill has. FILL: zero | iota | random SEED | fill VALUE | cross I/K | VALUE VALUE …
 * (cross: part I of the K-fold cross product of the type's edge values; every type has EDGES of
 * them, so parts of different types go together)
 *   //! launch KERNEL grid=X,Y,Z block=X,Y,Z for=NAME shared=N cluster=X,Y,Z cooperative ARG …
 *        for: enough blocks for one thread per element of NAME. ARG: a buffer's NAME, #NAME (its
 * count, u32), TYPE:VALUE
 *   //! fault ERROR_NAME                the launch above must fail so, e.g.
 * CUDA_ERROR_ILLEGAL_ADDRESS; nothing may follow
 *   //! expect NAME[I] VALUE …          exact; floats compare by bits, nan matches any NaN
 *   //! near NAME[I] TOLERANCE VALUE …  relative tolerance
 *   //! print NAME                      one value a line on standard output
 * Values: decimal, 0x hex (bits for integers, and for floats too), 0f/0d hex floats of PTX, inf,
 * -inf, nan. Exit code 0: everything as expected. 1: not. 2: the script is wrong. 3: CUDA could not
 * be used. */
#include <ctype.h>
#include <dlfcn.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
  const char *name;
  int size;
  char kind;
} Type; /* kind: u s b f h (half) g (bfloat16) */
static const Type types[] = {
    {"u8", 1, 'u'},  {"s8", 1, 's'},   {"b8", 1, 'b'},  {"u16", 2, 'u'},
    {"s16", 2, 's'}, {"b16", 2, 'b'},  {"u32", 4, 'u'}, {"s32", 4, 's'},
    {"b32", 4, 'b'}, {"u64", 8, 'u'},  {"s64", 8, 's'}, {"b64", 8, 'b'},
    {"f16", 2, 'h'}, {"bf16", 2, 'g'}, {"f32", 4, 'f'}, {"f64", 8, 'f'},
};

typedef struct {
  char name[64];
  const Type *type;
  size_t count;
  unsigned char *host;
  unsigned long long device;
} Buffer;
static Buffer buffers[64];
static int nbuffers;
static const char *script;
static int line_number, failures;

#define EDGES 36
static const uint32_t edges_f32[EDGES] = {
    0x00000000, 0x80000000, 0x3f800000, 0xbf800000, 0x00000001, 0x80000001, 0x007fffff, 0x807fffff,
    0x00800000, 0x80800000, 0x7f7fffff, 0xff7fffff, 0x7f800000, 0xff800000, 0x7fc00000, 0xffc00000,
    0x7f800001, 0x7fffffff, 0x3f000000, 0xbf000000, 0x3fc00000, 0xc0200000, 0x40400000, 0x4b000001,
    0x4b800000, 0x4f000000, 0xcf000000, 0x4f800000, 0x5f000000, 0x3dcccccd, 0xc0490fdb, 0x3f7fffff,
    0x3f800001, 0x00400000, 0x33800000, 0x501502f9};
static const uint64_t edges_f64[EDGES] = {0,
                                          1ull << 63,
                                          0x3ff0000000000000,
                                          0xbff0000000000000,
                                          1,
                                          0x8000000000000001,
                                          0x000fffffffffffff,
                                          0x800fffffffffffff,
                                          0x0010000000000000,
                                          0x8010000000000000,
                                          0x7fefffffffffffff,
                                          0xffefffffffffffff,
                                          0x7ff0000000000000,
                                          0xfff0000000000000,
                                          0x7ff8000000000000,
                                          0xfff8000000000000,
                                          0x7ff0000000000001,
                                          0x7fffffffffffffff,
                                          0x3fe0000000000000,
                                          0xbfe0000000000000,
                                          0x3ff8000000000000,
                                          0xc004000000000000,
                                          0x4008000000000000,
                                          0x4330000000000001,
                                          0x4340000000000000,
                                          0x41e0000000000000,
                                          0xc1e0000000000000,
                                          0x41f0000000000000,
                                          0x43e0000000000000,
                                          0x3fb999999999999a,
                                          0xc00921fb54442d18,
                                          0x3fefffffffffffff,
                                          0x3ff0000000000001,
                                          0x0008000000000000,
                                          0x47efffffe0000000,
                                          0x36a0000000000000};
static const uint16_t edges_f16[EDGES] = {
    0x0000, 0x8000, 0x3c00, 0xbc00, 0x0001, 0x8001, 0x03ff, 0x83ff, 0x0400, 0x8400, 0x7bff, 0xfbff,
    0x7c00, 0xfc00, 0x7e00, 0xfe00, 0x7c01, 0x7fff, 0x3800, 0xb800, 0x3e00, 0xc100, 0x4200, 0x6401,
    0x6800, 0x7800, 0xf800, 0x2e66, 0xc248, 0x3bff, 0x3c01, 0x0200, 0x1400, 0x5bff, 0xd640, 0x0003};
static const uint16_t edges_bf16[EDGES] = {
    0x0000, 0x8000, 0x3f80, 0xbf80, 0x0001, 0x8001, 0x007f, 0x807f, 0x0080, 0x8080, 0x7f7f, 0xff7f,
    0x7f80, 0xff80, 0x7fc0, 0xffc0, 0x7f81, 0x7fff, 0x3f00, 0xbf00, 0x3fc0, 0xc020, 0x4040, 0x4301,
    0x4380, 0x4f00, 0xcf00, 0x4f80, 0x5f00, 0x3dcd, 0xc049, 0x3f7f, 0x3f81, 0x0040, 0x3380, 0x5015};
/* Small numbers are also shift counts and bit positions at and past every width. */
static const uint64_t edges_int[EDGES] = {0,
                                          1,
                                          ~0ull,
                                          2,
                                          3,
                                          ~1ull,
                                          7,
                                          8,
                                          9,
                                          15,
                                          16,
                                          17,
                                          31,
                                          32,
                                          33,
                                          63,
                                          64,
                                          65,
                                          127,
                                          128,
                                          255,
                                          256,
                                          0x7fff,
                                          0x8000,
                                          0xffff,
                                          0x10000,
                                          0x7fffffff,
                                          0x80000000,
                                          0xffffffff,
                                          0x100000000,
                                          0x7fffffffffffffff,
                                          0x8000000000000000,
                                          0x8000000000000001,
                                          0x5555555555555555,
                                          0xaaaaaaaaaaaaaaaa,
                                          0x123456789abcdef0};

static void die(const char *what, const char *detail)
{
    fprintf(stderr, "%s:%d: %s %s\n", script, line_number, what, detail ? detail : "");
    exit(2);
}

static const Type *find_type(const char *name, size_t n)
{
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
        if (strlen(types[i].name) == n && strncmp(types[i].name, name, n) == 0) return &types[i];
    die("unknown type", name);
    return NULL;
}

static Buffer *find_buffer(const char *name, size_t n)
{
    for (int i = 0; i < nbuffers; i++)
      if (strlen(buffers[i].name) == n && strncmp(buffers[i].name, name, n) == 0)
        return &buffers[i];
    die("no such buffer:", name);
    return NULL;
}

static uint64_t double_bits(double d) { uint64_t u; memcpy(&u, &d, 8); return u; }
static uint32_t float_bits(float f) { uint32_t u; memcpy(&u, &f, 4); return u; }

/* Script values only: nearest even by way of scaled integers. */
static uint16_t half_bits(double d)
{
    uint16_t sign = signbit(d) ? 0x8000 : 0;
    d = fabs(d);
    if (isnan(d)) return 0x7fff;
    if (d >= 65520.0) return sign | 0x7c00;
    if (d < 0x1p-14) return sign | (uint16_t)nearbyint(d * 0x1p24);
    int e = ilogb(d);
    unsigned m = (unsigned)nearbyint(ldexp(d, 10 - e));                 /* 1024 … 2048 */
    return sign | (uint16_t)(((e + 15) << 10) + (m - 1024));
}

static double half_value(uint16_t h)
{
    int e = h >> 10 & 31, m = h & 1023;
    double d = e == 31 ? (m ? NAN : INFINITY) : e ? ldexp(1024 + m, e - 25) : ldexp(m, -24);
    return h & 0x8000 ? -d : d;
}

static uint16_t bfloat_bits(double d)
{
    uint32_t u = float_bits((float)d);
    if (isnan(d)) return 0x7fff;
    return (uint16_t)((u + 0x7fff + (u >> 16 & 1)) >> 16);
}

/* The bits of a value as the type stores them. */
static uint64_t parse_value(const Type *t, const char *s)
{
    char *end;
    uint64_t bits;
    int is_float = strchr("fhg", t->kind) != NULL;
    if (s[0] == '0' && (s[1] == 'f' || s[1] == 'F' || s[1] == 'd' || s[1] == 'D') && is_float)
      bits = strtoull(s + 2, &end, 16);
    else if (!is_float || (s[0] == '0' && s[1] == 'x'))
      bits = s[0] == '-' ? (uint64_t)strtoll(s, &end, 0) : strtoull(s, &end, 0);
    else {
        double d = strtod(s, &end);
        bits = t->kind == 'h'   ? half_bits(d)
               : t->kind == 'g' ? bfloat_bits(d)
               : t->size == 4   ? float_bits((float)d)
                                : double_bits(d);
    }
    if (*end || end == s) die("not a value:", s);
    return t->size == 8 ? bits : bits & ((1ull << t->size * 8) - 1);
}

static uint64_t element(const Buffer *b, size_t i)
{
    uint64_t v = 0;
    memcpy(&v, b->host + i * b->type->size, b->type->size);
    return v;
}

static double as_double(const Type *t, uint64_t bits)
{
    float f;
    double d;
    uint32_t low = (uint32_t)bits;
    if (t->kind == 'h') return half_value((uint16_t)bits);
    if (t->kind == 'g') low <<= 16;
    if (t->size == 8 && t->kind == 'f') { memcpy(&d, &bits, 8); return d; }
    if (strchr("fg", t->kind)) { memcpy(&f, &low, 4); return f; }
    if (t->kind == 's')
      return (double)((int64_t)(bits << (64 - 8 * t->size)) >> (64 - 8 * t->size));
    return (double)bits;
}

static void print_element(FILE *f, const Type *t, uint64_t bits)
{
    if (strchr("fhg", t->kind)) fprintf(f, "%.17g", as_double(t, bits));
    else if (t->kind == 's')
      fprintf(f, "%lld", (long long)((int64_t)(bits << (64 - 8 * t->size)) >> (64 - 8 * t->size)));
    else if (t->kind == 'u') fprintf(f, "%llu", (unsigned long long)bits);
    else fprintf(f, "0x%0*llx", t->size * 2, (unsigned long long)bits);
}

static uint64_t edge(const Type *t, size_t i)
{
    if (t->kind == 'h') return edges_f16[i];
    if (t->kind == 'g') return edges_bf16[i];
    if (t->kind == 'f') return t->size == 4 ? edges_f32[i] : edges_f64[i];
    return edges_int[i];
}

/* --- the driver, found at run time --- */
typedef struct {
  int id;
  char pad[4];
  union {
    unsigned dims[3];
    char bytes[64];
  } value;
} LaunchAttribute;
typedef struct {
    unsigned grid[3], block[3], shared;
    void *stream;
    LaunchAttribute *attributes;
    unsigned nattributes;
} LaunchConfig;

static void *driver;
static void *function(const char *name)
{
    void *f = dlsym(driver, name);
    if (!f) { fprintf(stderr, "libcuda.so.1 has no %s\n", name); exit(3); }
    return f;
}

static const char *error_name(int code)
{
    const char *name = NULL;
    int (*get)(int, const char **) = function("cuGetErrorName");
    get(code, &name);
    return name ? name : "unknown error";
}

static void must(int code, const char *what)
{
    if (code == 0) return;
    fprintf(stderr, "%s: %s: %s\n", script, what, error_name(code));
    exit(strcmp(what, "cuInit") == 0 ? 3 : 1);
}

#define CALL(name, params, ...) must(((int (*) params)function(name))(__VA_ARGS__), name)

static void *module;
static int last_launch;

static void open_driver(const char *text)
{
    int device;
    void *context;
    driver = dlopen("libcuda.so.1", RTLD_NOW);
    if (!driver) { fprintf(stderr, "%s\n", dlerror()); exit(3); }
    CALL("cuInit", (unsigned), 0);
    CALL("cuDeviceGet", (int *, int), &device, 0);
    CALL("cuDevicePrimaryCtxRetain", (void **, int), &context, device);
    CALL("cuCtxSetCurrent", (void *), context);
    int code = ((int (*)(void **, const void *))function("cuModuleLoadData"))(&module, text);
    const char *target = strstr(text, "\n.target sm_");
    int have[2] = {0, 0}, need = target ? atoi(target + 12) : 0;
    for (int i = 0; i < 2; i++)
      CALL("cuDeviceGetAttribute", (int *, int, int), &have[i], 75 + i, device);
    if (code != 0 && need > have[0] * 10 + have[1]) {
      fprintf(stderr, "a GPU of compute capability %d.%d is needed\n", need / 10, need % 10);
      exit(3);
    }
    must(code, "cuModuleLoadData");
}

/* --- the commands of a script --- */
#define MAX_WORDS 4096
static char *words[MAX_WORDS];
static int nwords;

static size_t power(size_t base, int exponent) {
  size_t r = 1;
  while (exponent-- > 0) r *= base;
  return r;
}

static void do_buffer(void)
{
    if (nwords < 4 || nbuffers == 64) die("buffer NAME TYPE COUNT FILL", NULL);
    Buffer *b = &buffers[nbuffers++];
    snprintf(b->name, sizeof b->name, "%s", words[1]);
    b->type = find_type(words[2], strlen(words[2]));
    const char *fill = nwords > 4 ? words[4] : "zero";
    int part = 0, parts = 0, all = strcmp(words[3], "*") == 0;
    if (strcmp(fill, "cross") == 0 &&
        (nwords < 6 || sscanf(words[5], "%d/%d", &part, &parts) != 2 || part < 1 || part > parts))
      die("cross I/K", NULL);
    b->count = !all    ? strtoul(words[3], NULL, 0)
               : parts ? power(EDGES, parts)
                       : (size_t)(nwords - 4);
    b->host = calloc(b->count + 1, b->type->size);
    uint64_t state = nwords > 5 ? strtoull(words[5], NULL, 0) * 2654435761u + 1 : 1;
    for (size_t i = 0; i < b->count; i++) {
        uint64_t v;
        if (strcmp(fill, "zero") == 0) v = 0;
        else if (strcmp(fill, "iota") == 0) {
            char text[32];
            snprintf(text, sizeof text, "%zu", i);
            v = parse_value(b->type, text);
        } else if (strcmp(fill, "random") == 0) {
            state = state * 6364136223846793005u + 1442695040888963407u;
            v = (state >> 33) ^ (state << 17);
        } else if (strcmp(fill, "fill") == 0) v = parse_value(b->type, nwords > 5 ? words[5] : "");
        else if (parts) v = edge(b->type, i / power(EDGES, part - 1) % EDGES);
        else v = parse_value(b->type, words[4 + i % (nwords - 4)]);
        memcpy(b->host + i * b->type->size, &v, b->type->size);
    }
    size_t bytes = b->count * b->type->size;
    CALL("cuMemAlloc_v2", (unsigned long long *, size_t), &b->device, bytes ? bytes : 1);
    if (bytes)
      CALL("cuMemcpyHtoD_v2", (unsigned long long, const void *, size_t), b->device, b->host,
           bytes);
}

static void parse_dims(const char *s, unsigned out[3])
{
    out[1] = out[2] = 1;
    if (sscanf(s, "%u,%u,%u", &out[0], &out[1], &out[2]) < 1) die("not a size:", s);
}

static void do_launch(void)
{
    static uint64_t values[256];
    void *params[256], *kernel;
    int nparams = 0, cooperative = 0;
    unsigned grid[3] = {1, 1, 1}, block[3] = {32, 1, 1}, cluster[3] = {0, 0, 0}, shared = 0;
    Buffer *cover = NULL;
    if (nwords < 2) die("launch KERNEL …", NULL);
    for (int i = 2; i < nwords; i++) {
        const char *w = words[i], *colon = strchr(w, ':');
        if (strncmp(w, "grid=", 5) == 0) parse_dims(w + 5, grid);
        else if (strncmp(w, "block=", 6) == 0) parse_dims(w + 6, block);
        else if (strncmp(w, "cluster=", 8) == 0) parse_dims(w + 8, cluster);
        else if (strncmp(w, "shared=", 7) == 0) shared = (unsigned)strtoul(w + 7, NULL, 0);
        else if (strncmp(w, "for=", 4) == 0) cover = find_buffer(w + 4, strlen(w + 4));
        else if (strcmp(w, "cooperative") == 0) cooperative = 1;
        else if (nparams == 256) die("too many arguments", NULL);
        else {
            if (w[0] == '#') values[nparams] = find_buffer(w + 1, strlen(w + 1))->count;
            else if (colon)
              values[nparams] = parse_value(find_type(w, (size_t)(colon - w)), colon + 1);
            else values[nparams] = find_buffer(w, strlen(w))->device;
            params[nparams] = &values[nparams];
            nparams++;
        }
    }
    if (cover) grid[0] = (unsigned)((cover->count + block[0] - 1) / block[0]);
    CALL("cuModuleGetFunction", (void **, void *, const char *), &kernel, module, words[1]);
    if (cooperative) {
      int (*launch)(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                    void *, void **) = function("cuLaunchCooperativeKernel");
      last_launch = launch(kernel, grid[0], grid[1], grid[2], block[0], block[1], block[2], shared,
                           NULL, params);
    } else if (cluster[0]) {
        LaunchAttribute attribute = {.id = 4};
        memcpy(attribute.value.dims, cluster, sizeof cluster);
        LaunchConfig config = {{grid[0], grid[1], grid[2]},
                               {block[0], block[1], block[2]},
                               shared,
                               NULL,
                               &attribute,
                               1};
        int (*launch)(const LaunchConfig *, void *, void **,
                      void **) = function("cuLaunchKernelEx");
        last_launch = launch(&config, kernel, params, NULL);
    } else {
      int (*launch)(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                    void *, void **, void **) = function("cuLaunchKernel");
      last_launch = launch(kernel, grid[0], grid[1], grid[2], block[0], block[1], block[2], shared,
                           NULL, params, NULL);
    }
    if (last_launch == 0) last_launch = ((int (*)(void))function("cuCtxSynchronize"))();
    if (last_launch != 0) return;
    for (int i = 0; i < nbuffers; i++) {
        size_t bytes = buffers[i].count * buffers[i].type->size;
        if (bytes)
          CALL("cuMemcpyDtoH_v2", (void *, unsigned long long, size_t), buffers[i].host,
               buffers[i].device, bytes);
    }
}

static int agrees(const Type *t, uint64_t got, uint64_t want, double tolerance)
{
    if (got == want) return 1;
    if (!strchr("fhg", t->kind) && tolerance == 0) return 0;
    double g = as_double(t, got), w = as_double(t, want);
    if (isnan(w)) return isnan(g);
    return tolerance > 0 && fabs(g - w) <= tolerance * fabs(w);
}

static void do_expect(int first_value, double tolerance)
{
    char *bracket = strchr(words[1], '[');
    Buffer *b = find_buffer(words[1], bracket ? (size_t)(bracket - words[1]) : strlen(words[1]));
    size_t index = bracket ? strtoul(bracket + 1, NULL, 0) : 0;
    for (int i = first_value; i < nwords; i++, index++) {
        if (index >= b->count) die("past the end of", b->name);
        uint64_t want = parse_value(b->type, words[i]), got = element(b, index);
        if (agrees(b->type, got, want, tolerance)) continue;
        if (failures++ > 20) continue;
        printf("%s:%d: %s[%zu] is ", script, line_number, b->name, index);
        print_element(stdout, b->type, got);
        printf(" (0x%llx), expected %s (0x%llx)\n", (unsigned long long)got, words[i],
               (unsigned long long)want);
    }
}

static void do_print(void)
{
    Buffer *b = find_buffer(words[1], strlen(words[1]));
    for (size_t i = 0; i < b->count; i++) {
        print_element(stdout, b->type, element(b, i));
        putchar('\n');
    }
}

static void run_line(char *text)
{
    nwords = 0;
    for (char *w = strtok(text, " \t\r\n"); w && nwords < MAX_WORDS; w = strtok(NULL, " \t\r\n"))
      words[nwords++] = w;
    if (nwords == 0 || strcmp(words[0], "timeout:") == 0 || strcmp(words[0], "options:") == 0)
      return;
    if (strcmp(words[0], "fault") == 0 && nwords == 2) {
        if (strcmp(error_name(last_launch), words[1]) == 0) exit(failures ? 1 : 0);
        printf("%s:%d: the launch gave %s, expected %s\n", script, line_number,
               error_name(last_launch), words[1]);
        exit(1);
    }
    if (last_launch) must(last_launch, "launch");
    if (strcmp(words[0], "buffer") == 0) do_buffer();
    else if (strcmp(words[0], "launch") == 0) do_launch();
    else if (strcmp(words[0], "expect") == 0 && nwords > 2) do_expect(2, 0);
    else if (strcmp(words[0], "near") == 0 && nwords > 3) do_expect(3, strtod(words[2], NULL));
    else if (strcmp(words[0], "print") == 0 && nwords == 2) do_print();
    else die("unknown command or missing words:", words[0]);
}

/* Every element of every buffer in hex, for comparing two devices. */
static void dump(const char *path)
{
    FILE *f = fopen(path, "w");
    if (!f) { perror(path); exit(3); }
    for (int i = 0; i < nbuffers; i++)
        for (size_t k = 0; k < buffers[i].count; k++)
          fprintf(f, "%s[%zu] %0*llx\n", buffers[i].name, k, buffers[i].type->size * 2,
                  (unsigned long long)element(&buffers[i], k));
    fclose(f);
}

int main(int argc, char **argv)
{
    const char *dump_path = NULL;
    int a = 1;
    if (a < argc && strncmp(argv[a], "--dump=", 7) == 0) dump_path = argv[a++] + 7;
    if (a >= argc) { fprintf(stderr, "usage: ptxhost [--dump=FILE] FILE.ptx\n"); return 2; }
    script = argv[a];
    FILE *f = fopen(script, "rb");
    if (!f) { perror(script); return 2; }
    fseek(f, 0, SEEK_END);
    long size = ftell(f);
    rewind(f);
    char *text = calloc(1, (size_t)size + 1), *copy;
    if (fread(text, 1, (size_t)size, f) != (size_t)size) { perror(script); return 2; }
    fclose(f);
    open_driver(text);
    copy = strdup(text);
    for (char *line = copy, *next; line; line = next) {
        next = strchr(line, '\n');
        if (next) *next++ = 0;
        line_number++;
        if (strncmp(line, "//!", 3) == 0) run_line(line + 3);
    }
    if (last_launch) must(last_launch, "launch");
    if (dump_path) dump(dump_path);
    fflush(stdout);
    return failures ? 1 : 0;
}
