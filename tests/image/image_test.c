// Tests of src/image with images made on the spot: no nvcc needed. With an argument it writes the
// images there, as seeds for fuzzing.
#include <sys/mman.h>
#include <unistd.h>

#include "build.h"

static const char PTX[] =
    "//\n// A comment that is long enough for the text to begin after the first page line, with "
    ".version 1.0 in it\n//\n"
    "/* and .version 2.0 here */\n.version 9.0\n.target sm_90a, debug\n.address_size 64\n\n"
    ".visible .entry scale(\n\t.param .u32 scale_param_0,\n\t.param .u64 "
    "scale_param_1\n)\n{\n\t.reg .b32 %r<4>;\n\tld.param.u32 %r1, [scale_param_0];\n"
    "\tadd.s32 %r2, %r1, 1;\n\tadd.s32 %r3, %r2, 1;\n\tret;\n}\n// the end\n";

static unsigned n_failed;
static FILE *nowhere;

static void result(const char *name, bool ok, const char *why) {
  printf(ok ? "ok %s\n" : "FAIL %s: %s\n", name, why);
  n_failed += !ok;
}
// A test is a function that returns at the first thing that is wrong.
#define EXPECT(cond) do { if (!(cond)) return "line " LINE_TEXT(__LINE__) ": " #cond; } while (0)
#define LINE_TEXT(n) LINE_TEXT_(n)
#define LINE_TEXT_(n) #n
static void test(const char *name, const char *(*fn)(void)) {
  const char *why = fn();
  result(name, !why, why);
}

// Uses an image in every way there is. What it contains may be damaged; nothing may crash.
static void use_everything(const Image *image) {
  Arena arena = {0};
  for (uint32_t i = 0; i < image->entries.len; i++) {
    const void *data;
    const char *text;
    size_t n;
    Cubin cubin;
    if (image_entry_data(&image->entries.data[i], &arena, &data, &n, NULL))
      image_read_cubin(&arena, data, n, &cubin, NULL);
    image_entry_text(&image->entries.data[i], &arena, &text, &n, NULL);
  }
  for (int flags = 0; flags < 8; flags++) {
    ImageEntryList list = {0};
    Error e = {0};
    if (image_choose_ptx(image, 90, flags, &list, &e))
      for (uint32_t i = 0; i < list.len; i++) {
        const char *text;
        size_t n;
        image_entry_text(&list.data[i], &arena, &text, &n, NULL);
      }
    else CHECK(e.text[0]);
    vec_free(&list);
  }
  image_print(image, nowhere);
  arena_free(&arena);
}

// From a copy of exactly this size, so that the address sanitizer sees every byte read beyond it.
static bool open_copy(const char *data, size_t size, Error *e) {
  char *copy = malloc(size);
  memcpy(copy, data, size);
  Image image;
  bool ok = image_open(copy, size, &image, e);
  if (ok) {
    use_everything(&image);
    image_close(&image);
  }
  free(copy);
  return ok;
}

// --- the images ---
typedef enum Sample {
  RAW,
  LZ4,
  ZSTD,
  CUBIN,
  CUBIN_WITH_PTX,
  CUBIN_FATBIN,
  LTO,
  HOST,
  ARCHIVE,
  N_SAMPLES
} Sample;
static const char *const sample_names[] = {
    "raw", "lz4", "zstd", "cubin", "cubin-with-ptx", "cubin-fatbin", "lto", "host", "archive"};
static Str samples[N_SAMPLES];

static void make_samples(void) {
  Str cubin = build_cubin(90, NULL), with_ptx = build_cubin(90, PTX);
  ImagePacking packings[] = {IMAGE_RAW, IMAGE_LZ4, IMAGE_ZSTD};
  for (int i = 0; i < 3; i++) {
    TestEntry entries[] = {
        {.kind = TEST_PTX,
         .arch = 80,
         .packing = packings[i],
         .data = PTX,
         .options = " -maxrregcount=32 ",
         .source = "scale.cu",
         .flags = 2},
        {.kind = TEST_ELF,
         .arch = 90,
         .suffix = 'a',
         .packing = packings[i],
         .data = cubin.data,
         .size = cubin.len},
        {.kind = TEST_PTX, .arch = 90, .suffix = 'a', .packing = packings[i], .data = PTX},
    };
    samples[RAW + i] = build_fatbin(entries, 3);
  }
  TestEntry only_elf[] = {{.kind = TEST_ELF, .arch = 80, .data = cubin.data, .size = cubin.len},
                          {.kind = TEST_ELF,
                           .arch = 90,
                           .suffix = 'a',
                           .packing = IMAGE_ZSTD,
                           .data = cubin.data,
                           .size = cubin.len}};
  samples[CUBIN_FATBIN] = build_fatbin(only_elf, 2);
  TestEntry lto = {
      .kind = TEST_LTO, .arch = 90, .data = "scrambled", .options = "-ftz=0 ", .flags = 0x10000};
  samples[LTO] = build_fatbin(&lto, 1);
  samples[CUBIN] = cubin;
  samples[CUBIN_WITH_PTX] = with_ptx;
  TestEntry linked = {.kind = TEST_ELF, .arch = 90, .data = cubin.data, .size = cubin.len};
  TestEntry whole = {.kind = TEST_PTX, .arch = 90, .data = PTX};
  Str parts[] = {build_fatbin(&linked, 1), build_fatbin(&whole, 1)};
  samples[HOST] = build_host(&parts[0], &samples[ZSTD], &parts[1], &parts[1]);
  samples[ARCHIVE] = build_archive("scale.o/", &samples[HOST]);
  str_free(&parts[0]);
  str_free(&parts[1]);
}

// --- fatbins ---
static const char *check_fatbin(Sample sample, ImagePacking packing) {
  Image image;
  Error e = {0};
  Arena arena = {0};
  const char *text;
  size_t n;
  EXPECT(image_open(samples[sample].data, samples[sample].len, &image, &e));
  EXPECT(image.kind == IMAGE_FATBIN && image.entries.len == 3 && image.objects.len == 1 &&
         image.objects.data[0].entries == 3);
  const ImageEntry *p = &image.entries.data[0];
  EXPECT(p->kind == IMAGE_ENTRY_PTX && p->arch == 80 && !p->suffix && p->major == 9 &&
         p->minor == 0 && p->packing == packing);
  EXPECT(p->debug && p->is_64bit && strcmp(p->options, " -maxrregcount=32 ") == 0 &&
         strcmp(p->source, "scale.cu") == 0);
  EXPECT(image_entry_text(p, &arena, &text, &n, &e) && n == sizeof PTX - 1 &&
         memcmp(text, PTX, n + 1) == 0);
  p = &image.entries.data[1];
  const void *data;
  EXPECT(p->kind == IMAGE_ENTRY_ELF && p->arch == 90 && p->suffix == 'a' && !p->debug &&
         p->options[0] == 0);
  EXPECT(image_entry_data(p, &arena, &data, &n, &e) && n >= samples[CUBIN].len &&
         memcmp(data, samples[CUBIN].data, samples[CUBIN].len) == 0);
  EXPECT(!image_entry_text(p, &arena, &text, &n, &e));
  p = &image.entries.data[2];
  EXPECT(p->suffix == 'a' && image_entry_text(p, &arena, &text, &n, &e) && n == sizeof PTX - 1 &&
         !text[n]);
  arena_free(&arena);
  image_close(&image);
  return NULL;
}
static const char *fatbin_raw(void) { return check_fatbin(RAW, IMAGE_RAW); }
static const char *fatbin_lz4(void) { return check_fatbin(LZ4, IMAGE_LZ4); }
static const char *fatbin_zstd(void) { return check_fatbin(ZSTD, IMAGE_ZSTD); }

static const char *unknown_packing(void) {
  TestEntry entry = {.kind = TEST_PTX, .arch = 90, .packing = IMAGE_LZ4, .data = PTX};
  Str s = build_fatbin(&entry, 1);
  patch(&s, 16 + 40, 0x20011, 8);
  Image image;
  Error e = {0};
  Arena arena = {0};
  const char *text;
  size_t n;
  EXPECT(image_open(s.data, s.len, &image, &e) &&
         image.entries.data[0].packing == IMAGE_PACKED_UNKNOWN);
  EXPECT(!image_entry_text(&image.entries.data[0], &arena, &text, &n, &e) &&
         strstr(e.text, "0x20011") && strstr(e.text, "--no-compress"));
  image_close(&image);
  str_free(&s);
  return NULL;
}

static const char *other_versions(void) {
  Str s = {0};
  Image image;
  Error e = {0};
  str_addn(&s, samples[RAW].data, samples[RAW].len);
  patch(&s, 4, 2, 2);
  EXPECT(!image_open(s.data, s.len, &image, &e) && strstr(e.text, "version 2"));
  patch(&s, 4, 1, 2);
  patch(&s, 16 + 2, 0x0201, 2);
  EXPECT(!image_open(s.data, s.len, &image, &e) && strstr(e.text, "0x0201"));
  patch(&s, 0, 0x1EE55A01, 4);
  EXPECT(!image_open(s.data, s.len, &image, &e) && strstr(e.text, "CUDA 3"));
  str_free(&s);
  return NULL;
}

// --- what is no image ---
static const char *not_images(void) {
  Image image;
  Error e = {0};
  EXPECT(!image_open("hello, world", 13, &image, &e) && strstr(e.text, "not PTX"));
  EXPECT(!image_open("\x01\x02\x03\x04", 5, &image, &e) && strstr(e.text, "01 02 03 04"));
  EXPECT(!image_open("BC\xc0\xde....", 9, &image, &e) && strstr(e.text, "bitcode"));
  EXPECT(!image_open("", 0, &image, &e) && !image_open("", 1, &image, &e));
  EXPECT(!image_open(".version", 9, &image, &e) && strstr(e.text, "number"));
  char elf32[64] = "\x7f" "ELF\x01\x01\x01";
  EXPECT(!image_open(elf32, 64, &image, &e) && strstr(e.text, "32-bit"));
  char wrapper[24] = "\xb1\x43\x62\x46\x01";
  EXPECT(!image_open(wrapper, 24, &image, &e) && strstr(e.text, "pointers"));
  EXPECT(image_identify(PTX) == IMAGE_PTX && image_identify("x") == IMAGE_UNKNOWN &&
         image_identify("") == IMAGE_UNKNOWN);
  return NULL;
}

static const char *ptx_text(void) {
  for (int sized = 0; sized < 2; sized++) {
    Image image;
    Error e = {0};
    Arena arena = {0};
    const char *text;
    size_t n;
    EXPECT(image_open(PTX, sized ? sizeof PTX : 0, &image, &e) && image.kind == IMAGE_PTX &&
           image.entries.len == 1);
    const ImageEntry *p = &image.entries.data[0];
    EXPECT(p->arch == 90 && p->suffix == 'a' && p->major == 9 && p->minor == 0 && p->debug);
    EXPECT(image_entry_text(p, &arena, &text, &n, &e) && n == sizeof PTX - 1 &&
           memcmp(text, PTX, n + 1) == 0);
    arena_free(&arena);
    image_close(&image);
  }
  return NULL;
}

// --- cubins ---
static const char *cubin(void) {
  Arena arena = {0};
  Cubin c;
  Error e = {0};
  EXPECT(image_read_cubin(&arena, samples[CUBIN].data, samples[CUBIN].len, &c, &e));
  EXPECT(c.arch == 90 && c.suffix == 'a' && c.abi_version == 8 &&
         strcmp(c.built_by, "ptxas, release 13.0") == 0);
  EXPECT(c.n_kernels == 1 && strcmp(c.kernels[0].name, "scale") == 0);
  const CubinKernel *k = &c.kernels[0];
  EXPECT(k->regs == 24 && k->stack_size == 16 && k->shared_size == 512 && k->param_size == 16 &&
         k->max_regs == 255 && k->max_threads[0] == 256);
  EXPECT(k->n_params == 2 && k->params[0].size == 4 && k->params[1].size == 8 &&
         k->params[1].offset == 8);
  EXPECT(c.n_variables == 2 && c.variables[0].managed && c.variables[0].space == CUBIN_GLOBAL &&
         c.variables[1].space == CUBIN_CONSTANT && c.variables[1].initialised);
  EXPECT(c.n_banks == 2 && c.n_externs == 1 && strcmp(c.externs[0], "vprintf") == 0 && !c.ptx &&
         !c.has_source_lines);
  EXPECT(
      image_read_cubin(&arena, samples[CUBIN_WITH_PTX].data, samples[CUBIN_WITH_PTX].len, &c, &e));
  EXPECT(c.ptx && c.ptx_len == sizeof PTX - 1 && strcmp(c.ptx, PTX) == 0 && c.has_source_lines &&
         c.has_ptx_lines);
  EXPECT(!image_read_cubin(&arena, samples[HOST].data, samples[HOST].len, &c, &e) &&
         strstr(e.text, "not a cubin"));
  // The file format of CUDA 12 has the arch in the lowest byte.
  Str old = {0};
  str_addn(&old, samples[CUBIN].data, samples[CUBIN].len);
  patch(&old, EI_OSABI, 0x33, 1);
  patch(&old, offsetof(Elf64_Ehdr, e_flags), 0x00560556, 4);
  EXPECT(image_read_cubin(&arena, old.data, old.len, &c, &e) && c.arch == 86);
  str_free(&old);
  arena_free(&arena);
  return NULL;
}

static const char *debug_ptx(void) {
  Image image;
  Error e = {0};
  ImageEntryList list = {0};
  Arena arena = {0};
  const char *text;
  size_t n;
  EXPECT(image_open(samples[CUBIN_WITH_PTX].data, samples[CUBIN_WITH_PTX].len, &image, &e) &&
         image.kind == IMAGE_CUBIN);
  EXPECT(!image_choose_ptx(&image, 90, 0, &list, &e) && strstr(e.text, "scale"));
  EXPECT(image_choose_ptx(&image, 90, IMAGE_USE_DEBUG_PTX, &list, &e) && list.len == 1 &&
         list.data[0].recovered);
  EXPECT(image_entry_text(&list.data[0], &arena, &text, &n, &e) && n == sizeof PTX - 1 &&
         strcmp(text, PTX) == 0);
  arena_free(&arena);
  vec_free(&list);
  image_close(&image);
  return NULL;
}

// --- choosing ---
typedef struct Choice {
  const char *name;
  struct {
    unsigned arch;
    char suffix;
  } has[4];
  unsigned sm;
  int flags;
  const char *target;
} Choice;
static const Choice choices[] = {
  {"highest-that-fits", {{75, 0}, {80, 0}, {100, 0}}, 90, 0, "compute_80"},
  {"exact", {{80, 0}, {90, 0}, {100, 0}}, 90, 0, "compute_90"},
  {"a-fits", {{90, 0}, {90, 'a'}}, 90, 0, "compute_90a"},
  {"a-before-older", {{80, 0}, {90, 'a'}}, 90, IMAGE_PREFER_PLAIN, "compute_90a"},
  {"plain-preferred", {{90, 'a'}, {90, 0}}, 90, IMAGE_PREFER_PLAIN, "compute_90"},
  {"a-does-not-fit-newer", {{80, 0}, {90, 'a'}}, 100, 0, "compute_80"},
  {"f-fits-family", {{90, 0}, {100, 'f'}}, 103, 0, "compute_100f"},
  {"f-not-other-family", {{90, 0}, {100, 'f'}}, 120, 0, "compute_90"},
  {"f-not-older", {{90, 0}, {103, 'f'}}, 100, 0, "compute_90"},
  {"nothing-fits", {{100, 0}, {90, 'a'}}, 89, 0, NULL},
  {"lowest-above", {{120, 0}, {100, 0}, {110, 0}}, 90, IMAGE_ANY_ARCH, "compute_100"},
  {"above-plain-first", {{100, 'a'}, {100, 0}}, 90, IMAGE_ANY_ARCH, "compute_100"},
  {"foreign-a", {{90, 'a'}}, 100, IMAGE_ANY_ARCH, "compute_90a"},
};

static const char *choose_one(const Choice *c) {
  TestEntry entries[4];
  size_t n = 0;
  for (; n < 4 && c->has[n].arch; n++)
    entries[n] = (TestEntry){
        .kind = TEST_PTX, .arch = c->has[n].arch, .suffix = c->has[n].suffix, .data = PTX};
  Str s = build_fatbin(entries, n);
  Image image;
  ImageEntryList list = {0};
  Error e = {0};
  char target[24];
  EXPECT(image_open(s.data, s.len, &image, &e));
  bool ok = image_choose_ptx(&image, c->sm, c->flags, &list, &e);
  EXPECT(ok == (c->target != NULL));
  EXPECT(!ok ||
         (list.len == 1 && strcmp(image_entry_target(&list.data[0], target), c->target) == 0));
  EXPECT(ok || (strstr(e.text, "compute_100, compute_90a") && strstr(e.text, "8.9") &&
                strstr(e.text, "-gencode arch=compute_89,code=compute_89")));
  vec_free(&list);
  image_close(&image);
  str_free(&s);
  return NULL;
}

static const char *errors_say_what_to_do(void) {
  Image image;
  ImageEntryList list = {0};
  Error e = {0};
  EXPECT(image_open(samples[CUBIN_FATBIN].data, samples[CUBIN_FATBIN].len, &image, &e));
  EXPECT(!image_choose_ptx(&image, 90, 7, &list, &e) && !list.len);
  EXPECT(strstr(e.text, "sm_80, sm_90a") && strstr(e.text, "scale") &&
         strstr(e.text, "-gencode arch=compute_90a,code=compute_90a"));
  image_close(&image);
  EXPECT(image_open(samples[LTO].data, samples[LTO].len, &image, &e) &&
         image.entries.data[0].kind == IMAGE_ENTRY_LTO);
  EXPECT(!image_choose_ptx(&image, 90, 7, &list, &e) && strstr(e.text, "-dlto") &&
         strstr(e.text, "lto_90"));
  image_close(&image);
  Str empty = build_fatbin(NULL, 0);
  EXPECT(image_open(empty.data, empty.len, &image, &e) &&
         !image_choose_ptx(&image, 90, 7, &list, &e) && strstr(e.text, "no CUDA code"));
  image_close(&image);
  str_free(&empty);
  return NULL;
}

// --- host files and wrappers ---
static const char *check_host(Sample sample, const char *member) {
  Image image;
  ImageEntryList list = {0};
  Error e = {0};
  EXPECT(image_open(samples[sample].data, samples[sample].len, &image, &e));
  EXPECT(image.objects.len == 4 && image.entries.len == 6);
  const ImageObject *o = image.objects.data;
  EXPECT(o[0].linked && !o[1].linked && !o[1].relocatable && o[2].relocatable && o[3].relocatable &&
         strcmp(o[0].name, member) == 0);
  for (int i = 0; i < 4; i++)
    EXPECT(memcmp(samples[sample].data + o[i].offset, "\x50\xed\x55\xba", 4) == 0 &&
           (const char *)o[i].fatbin == samples[sample].data + o[i].offset);
  EXPECT(image_choose_ptx(&image, 90, 0, &list, &e) && list.len == 3);
  EXPECT(list.data[0].object == 1 && list.data[0].suffix == 'a' && list.data[1].object == 2 &&
         list.data[2].object == 3);
  vec_free(&list);
  image_close(&image);
  return NULL;
}
static const char *host_file(void) { return check_host(HOST, ""); }
static const char *static_library(void) { return check_host(ARCHIVE, "scale.o"); }

static const char *wrappers(void) {
  TestEntry whole = {.kind = TEST_PTX, .arch = 90, .packing = IMAGE_ZSTD, .data = PTX};
  Str object = build_fatbin(&whole, 1);
  const void *objects[] = {object.data, object.data, NULL};
  struct {
    uint32_t magic, version;
    const void *data, *extra;
  } w = {0x466243B1, 1, samples[LZ4].data, NULL};
  Image image;
  ImageEntryList list = {0};
  Error e = {0};
  EXPECT(image_identify(&w) == IMAGE_FATBIN_WRAPPER);
  EXPECT(image_open(&w, 0, &image, &e) && image.kind == IMAGE_FATBIN_WRAPPER &&
         image.entries.len == 3 && image.objects.len == 1);
  image_close(&image);
  w.version = 2;
  w.data = samples[CUBIN_FATBIN].data;
  w.extra = objects;
  EXPECT(image_open(&w, 0, &image, &e) && image.objects.len == 3 && image.objects.data[0].linked &&
         image.objects.data[2].relocatable);
  EXPECT(image_choose_ptx(&image, 90, 0, &list, &e) && list.len == 2 && list.data[0].object == 1 &&
         list.data[1].object == 2);
  vec_free(&list);
  image_close(&image);
  w.extra = NULL;
  EXPECT(image_open(&w, 0, &image, &e) && !image_choose_ptx(&image, 90, 0, &list, &e) &&
         strstr(e.text, "sm_80, sm_90a"));
  image_close(&image);
  w.extra = (void *)16;
  EXPECT(!image_open(&w, 0, &image, &e));
  w.data = (void *)16;
  EXPECT(!image_open(&w, 0, &image, &e));
  w.version = 3;
  EXPECT(!image_open(&w, 0, &image, &e) && strstr(e.text, "version 3"));
  str_free(&object);
  return NULL;
}

// Images without a size, of which only the first part is mapped: every cut must be an error.
static const char *cut_by_unmapped_memory(void) {
  size_t page = (size_t)sysconf(_SC_PAGESIZE), room = page * 4;
  char *memory = mmap(NULL, room + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
                      0);
  munmap(memory + room, page);
  for (int i = 0; i < N_SAMPLES; i++) {
    if (i == ARCHIVE) continue;
    size_t size = samples[i].len;
    EXPECT(size <= room);
    for (size_t n = 0; n <= size; n++) {
      char *start = memory + room - n;
      memcpy(start, samples[i].data, n);
      Image image;
      Error e = {0};
      bool ok = image_open(start, 0, &image, &e);
      EXPECT(ok == (n == size) && ok == !e.text[0]);
      if (!ok) continue;
      EXPECT(image.size == size || i == CUBIN || i == CUBIN_WITH_PTX || i == HOST);
      use_everything(&image);
      image_close(&image);
    }
  }
  Image image;
  Error e = {0};
  memcpy(memory + room - sizeof PTX + 1, PTX, sizeof PTX - 1);   // no NUL
  EXPECT(!image_open(memory + room - sizeof PTX + 1, 0, &image, &e) && strstr(e.text, "NUL"));
  munmap(memory, room);
  return NULL;
}

// --- damage ---
static void test_truncated(Sample s) {
  char name[64];
  const char *why = NULL;
  for (size_t n = 1; n < samples[s].len; n++) {
    Error e = {0};
    if (s == ARCHIVE && n == 8) continue;   // an empty library is a good one
    bool ok = open_copy(samples[s].data, n, &e);
    if (ok || !e.text[0]) why = ok ? "a truncated image was opened" : "no reason was given";
    if (why) {
      fprintf(stderr, "%s: cut after %zu of %zu bytes\n", sample_names[s], n, samples[s].len);
      break;
    }
  }
  Error e = {0};
  if (!why && !open_copy(samples[s].data, samples[s].len, &e))
    why = "the whole image was not opened";
  snprintf(name, sizeof name, "truncated/%s", sample_names[s]);
  result(name, !why, why);
}

static void test_corrupted(Sample s) {
  static const unsigned char changes[] = {0xff, 0x01, 0x80, 0x40};
  const char *size = getenv("TEST_SIZE");
  bool all = size && !strcmp(size, "long");   // or one change for each byte, in turn
  char name[64];
  unsigned refused = 0;
  for (size_t at = 0; at < samples[s].len; at++)
    for (size_t c = all ? 0 : at % sizeof changes; c < sizeof changes; c += all ? 1 : 4) {
      char *byte = &samples[s].data[at], was = *byte;
      Error e = {0};
      *byte ^= (char)changes[c];
      refused += !open_copy(samples[s].data, samples[s].len, &e);
      *byte = was;
    }
  snprintf(name, sizeof name, "corrupted/%s", sample_names[s]);
  result(name, refused > 0, "no damage was noticed");
}

int main(int argc, char **argv) {
  make_samples();
  if (argc == 2) {
    for (int i = 0; i < N_SAMPLES; i++) {
      Str path = {0};
      Error e = {0};
      str_printf(&path, "%s/%s", argv[1], sample_names[i]);
      if (!file_write(path.data, samples[i].data, samples[i].len, &e)) {
        fprintf(stderr, "%s\n", e.text);
        return 1;
      }
      str_free(&path);
    }
    return 0;
  }
  nowhere = fopen("/dev/null", "w");
  test("fatbin-raw", fatbin_raw);
  test("fatbin-lz4", fatbin_lz4);
  test("fatbin-zstd", fatbin_zstd);
  test("unknown-packing", unknown_packing);
  test("other-versions", other_versions);
  test("not-images", not_images);
  test("ptx-text", ptx_text);
  test("cubin", cubin);
  test("debug-ptx", debug_ptx);
  for (size_t i = 0; i < ARRAY_LEN(choices); i++) {
    char name[64];
    const char *why = choose_one(&choices[i]);
    snprintf(name, sizeof name, "choose/%s", choices[i].name);
    result(name, !why, why);
  }
  test("errors-say-what-to-do", errors_say_what_to_do);
  test("host-file", host_file);
  test("static-library", static_library);
  test("wrappers", wrappers);
  test("cut-by-unmapped-memory", cut_by_unmapped_memory);
  for (int i = 0; i < N_SAMPLES; i++) {
    test_truncated(i);
    test_corrupted(i);
  }
  return n_failed ? 1 : 0;
}
