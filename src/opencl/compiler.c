// Compiles OpenCL C to PTX: clang to LLVM assembly, then clang again with libclc and our own
// library linked in and everything inlined into the kernels (fit.c says why), then to PTX.
#define _GNU_SOURCE

#include "opencl/opencl.h"

#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

// Newest first: a newer clang reads the bitcode of an older libclc. Before 17 clang links no
// libraries to LLVM assembly.
enum { OLDEST = 17 };
static const char *const names[] = {"clang-22", "clang-21", "clang-20", "clang-19",
                                    "clang-18", "clang-17", "clang"};
static const char *const bitcodes[] = {
    "/usr/lib/clc/nvptx64--nvidiacl.bc", "/usr/share/clc/nvptx64--nvidiacl.bc",
    "/usr/lib64/clc/nvptx64--nvidiacl.bc", "/usr/local/share/clc/nvptx64--nvidiacl.bc"};

extern const char ocl_library_text[];  // library/*.cl, put in by the build

typedef struct Compiler {
  char path[PATH_MAX], bitcode[PATH_MAX];
  char name[64];  // "clang-19-1f0c…": it changes when either file does
} Compiler;

static pthread_once_t once = PTHREAD_ONCE_INIT;
static Compiler compiler;  // path empty: there is none

// Debian's /usr/bin/clang is a link to …/llvm-14/bin/clang.
static bool is_too_old(const char *path) {
  const char *at = strstr(path, "llvm-");
  int version = at ? atoi(at + 5) : 0;
  return version && version < OLDEST;
}

static uint64_t file_mark(const char *path) {
  struct stat st;
  if (stat(path, &st)) return 0;
  uint64_t facts[] = {(uint64_t)st.st_size, (uint64_t)st.st_mtime};
  return base_hash(facts, sizeof facts);
}

static void find_compiler(void) {
  const char *wanted = getenv("WARPGRIND_OPENCL_CLANG"), *bitcode = getenv("WARPGRIND_LIBCLC");
  for (size_t i = 0; !bitcode && i < ARRAY_LEN(bitcodes); i++)
    if (access(bitcodes[i], R_OK) == 0) bitcode = bitcodes[i];
  if (!bitcode || access(bitcode, R_OK)) return;
  bool found = wanted && *wanted && ocl_find_program(wanted, compiler.path);
  for (size_t i = 0; !wanted && !found && i < ARRAY_LEN(names); i++)
    found = ocl_find_program(names[i], compiler.path) && !is_too_old(compiler.path);
  if (!found) {
    compiler.path[0] = 0;
    return;
  }
  snprintf(compiler.bitcode, sizeof compiler.bitcode, "%s", bitcode);
  uint64_t marks[] = {file_mark(compiler.path), file_mark(bitcode),
                      base_hash(ocl_library_text, strlen(ocl_library_text))};
  const char *base = strrchr(compiler.path, '/') + 1;
  snprintf(compiler.name, sizeof compiler.name, "clang%s-%016llx",
           strncmp(base, "clang", 5) == 0 ? base + 5 : "",
           (unsigned long long)base_hash(marks, sizeof marks));
}

bool ocl_compiler_present(void) {
  pthread_once(&once, find_compiler);
  return compiler.path[0];
}

const char *ocl_compiler_name(void) { return ocl_compiler_present() ? compiler.name : NULL; }

typedef VEC(const char *) Words;

static void add_words(Words *w, const Str *words) {
  for (size_t i = 0; i < words->len; i += strlen(words->data + i) + 1) vec_push(w, words->data + i);
}

// Names of headers may have folders in them.
static void write_headers(const OclRequest *r, OclFolder *f) {
  for (uint32_t i = 0; i + 1 < r->headers.len; i += 2) {
    Str part = {0};
    for (const char *p = r->headers.data[i]; *p; p++) {
      if (*p == '/' && part.len) mkdir(ocl_folder_file(f, part.data), 0700);
      str_addc(&part, *p);
    }
    const char *text = r->headers.data[i + 1];
    if (!strstr(part.data, ".."))
      file_write(ocl_folder_file(f, part.data), text, strlen(text), NULL);
    str_free(&part);
  }
}

#define EXTENSIONS \
  "-cl-ext=+cl_khr_fp16,+cl_khr_int64_base_atomics,+cl_khr_int64_extended_atomics," \
  "+cl_khr_3d_image_writes,+__opencl_c_images,+__opencl_c_3d_image_writes," \
  "+__opencl_c_read_write_images"
static const char *const common[] = {"--target=nvptx64--nvcl",
                                     "-gdwarf-2",
                                     "-gline-tables-only",
                                     "-Xclang",
                                     "-target-cpu",
                                     "-Xclang",
                                     "sm_70",
                                     "-Xclang",
                                     EXTENSIONS};

#define ADD(w, ...) \
  do { \
    static const char *const list_[] = {__VA_ARGS__}; \
    for (size_t i_ = 0; i_ < ARRAY_LEN(list_); i_++) vec_push(w, list_[i_]); \
  } while (0)

static bool run_clang(const Words *own, Str *log) {
  Words w = {0};
  vec_push(&w, compiler.path);
  for (size_t i = 0; i < ARRAY_LEN(common); i++) vec_push(&w, common[i]);
  for (uint32_t i = 0; i < own->len; i++) vec_push(&w, own->data[i]);
  vec_push(&w, NULL);
  int code = ocl_run(w.data, log);
  if (code < 0) str_printf(log, "%s could not be run\n", compiler.path);
  vec_free(&w);
  return code == 0;
}

bool ocl_disassemble(OclFolder *f, const char *bitcode, Str *out, Str *log) {
  char *assembly = ocl_folder_file(f, "translated.ll");
  const char *words[] = {
      compiler.path, "--target=spir64", "-x", "ir",     "-w",    "-Xclang", "-disable-llvm-passes",
      "-S",          "-emit-llvm",      "-o", assembly, bitcode, NULL};
  return ocl_run(words, log) == 0 && file_read(assembly, out, NULL);
}

bool ocl_target_lines(OclFolder *f, Str *out, Str *log) {
  char *source = ocl_folder_file(f, "empty.cl"), *assembly = ocl_folder_file(f, "empty.ll");
  Str text = {0};
  Words w = {0};
  ADD(&w, "-x", "cl", "-w", "-S", "-emit-llvm", "-o");
  vec_push(&w, assembly);
  vec_push(&w, source);
  bool ok = file_write(source, "\n", 1, NULL) && run_clang(&w, log) &&
            file_read(assembly, &text, NULL);
  for (const char *line = ok ? text.data : ""; *line;) {
    size_t n = strcspn(line, "\n") + 1;
    if (!strncmp(line, "target ", 7)) str_addn(out, line, n);
    line += line[n - 1] ? n : n - 1;
  }
  vec_free(&w);
  str_free(&text);
  return ok && out->len;
}

// Our own library as bitcode, made when it is first needed.
static bool library_bitcode(OclFolder *f, Str *out, Str *log) {
  bool kept = ocl_cache_path(compiler.name, "library.bc", out);
  if (kept && access(out->data, R_OK) == 0) return true;
  if (!kept) str_add(out, ocl_folder_file(f, "library.bc"));
  char *source = ocl_folder_file(f, "library.cl");
  Str made = {0};
  str_printf(&made, "%s.%d", out->data, (int)getpid());
  Words w = {0};
  // clang's own table of built-ins lacks the functions that the library overloads: use the header
  ADD(&w, "-include", "opencl-c.h", "-x", "cl", "-w", "-cl-std=CL2.0", "-O2", "-Xclang",
      "-disable-llvm-passes", "-Xclang", "-finclude-default-header", "-g0", "-emit-llvm", "-c",
      "-o");
  vec_push(&w, made.data);
  vec_push(&w, source);
  bool ok = file_write(source, ocl_library_text, strlen(ocl_library_text), NULL) &&
            run_clang(&w, log) && rename(made.data, out->data) == 0;
  vec_free(&w);
  str_free(&made);
  return ok;
}

// OpenCL C to LLVM assembly.
static bool compile(const OclRequest *r, const Str *options, OclFolder *f, Str *out, Str *log) {
  Str text = {0}, name = {0}, written = {0};
  char *source = ocl_folder_file(f, "source.cl"), *assembly = ocl_folder_file(f, "source.ll");
  ocl_source_name(r->source, &name);
  str_printf(&text, "# 1 \"%s\"\n%s\n", name.data, r->source);
  write_headers(r, f);
  Words w = {0};
  // A last member char x[1] or x[] may stand for more elements.
  if (wg_opencl_tests_indices())
    ADD(&w, "-Xclang", "-fsanitize=array-bounds", "-Xclang", "-fsanitize-recover=array-bounds",
        "-fstrict-flex-arrays=1");
  // Everything has to be inlined: fit.c.
  // The macros are features of OpenCL C 3.0 that clang leaves to its users.
  ADD(&w, "-D__opencl_c_atomic_order_acq_rel=1", "-D__opencl_c_atomic_order_seq_cst=1",
      "-D__opencl_c_atomic_scope_device=1", "-D__IMAGE_SUPPORT__=1", "-D__OPENCL_VERSION__=300");
  ADD(&w, "-x", "cl", "-O2", "-Xclang", "-disable-llvm-passes", "-Xclang",
      "-finclude-default-header", "-cl-kernel-arg-info", "-Dnoinline=", "-fno-caret-diagnostics",
      "-S", "-emit-llvm");
  add_words(&w, options);
  ADD(&w, "-I");
  vec_push(&w, f->path);
  // includes are also searched in the program's working folder
  ADD(&w, "-I", ".", "-o");
  vec_push(&w, assembly);
  vec_push(&w, source);
  bool ok = file_write(source, text.data, text.len, NULL) && run_clang(&w, log) &&
            file_read(assembly, &written, NULL);
  if (ok) ocl_straighten_index_tests(written.data, out);
  vec_free(&w);
  str_free(&text);
  str_free(&name);
  str_free(&written);
  return ok;
}

// -mlink-bitcode-file takes no assembly.
static char *to_bitcode(OclFolder *f, char *assembly, uint32_t number, Str *log) {
  char name[32];
  snprintf(name, sizeof name, "object%u.bc", number);
  char *out = ocl_folder_file(f, name);
  Words w = {0};
  ADD(&w, "-x", "ir", "-w", "-O2", "-Xclang", "-disable-llvm-passes", "-emit-llvm", "-c", "-o");
  vec_push(&w, out);
  vec_push(&w, assembly);
  run_clang(&w, log);
  vec_free(&w);
  return out;
}

// clang marks kernels noinline. A kernel that another one calls must be inlined, like all
// functions.
static void let_kernels_inline(char *assembly) {
  static const char mark[] = "\nattributes #", word[] = " noinline ";
  for (char *line = assembly; (line = strstr(line, mark)); line++) {
    size_t n = strcspn(line + 1, "\n");
    char *at = memmem(line, n, word, strlen(word));
    if (at) memset(at, ' ', strlen(word));
  }
}

// LLVM assembly to one optimised assembly, or to PTX.
static bool link_objects(const OclRequest *r, OclFolder *f, bool to_ptx, Str *out, Str *log) {
  Words w = {0};
  Str library = {0}, said = {0};
  char *linked = ocl_folder_file(f, to_ptx ? "program.ptx" : "linked.ll");
  bool ok = library_bitcode(f, &library, log);
  // No vectorizers: they would join what was split (comparisons: vector_compares.c, conversions:
  // library/half.cl). Loops are unrolled four times, short ones completely, as nvcc does; clang's
  // default is two times.
  ADD(&w, "-x", "ir", "-O2", "-w", "-fno-slp-vectorize", "-mllvm", "-disable-vector-combine",
      "-mllvm", "-inline-threshold=1000000", "-mllvm", "-unroll-partial-threshold=120", "-mllvm",
      "-unroll-threshold=400", "-S");
  // Without value names and use-list orders, clang (19) cannot read all of its own output, or
  // generates different code.
  if (!to_ptx) ADD(&w, "-emit-llvm", "-fno-discard-value-names", "-Xclang", "-emit-llvm-uselists");
  ADD(&w, "-o");
  vec_push(&w, linked);
  for (uint32_t i = 0; ok && i < r->objects.len; i++) {
    char name[32];
    snprintf(name, sizeof name, "object%u.ll", i);
    char *file = ocl_folder_file(f, name);
    Str compared = {0}, text = {0};
    ocl_split_vector_compares(r->objects.data[i], &compared);
    ocl_fit_printf(compared.data, &text);
    let_kernels_inline(text.data);
    ocl_fit_char2_parameters(text.data);
    ok = file_write(file, text.data, text.len, NULL);
    str_free(&compared);
    str_free(&text);
    if (i) ADD(&w, "-Xclang", "-mlink-bitcode-file", "-Xclang");
    vec_push(&w, i && ok ? to_bitcode(f, file, i, &said) : file);
  }
  ADD(&w, "-Xclang", "-mlink-builtin-bitcode", "-Xclang");
  vec_push(&w, library.data);
  ADD(&w, "-Xclang", "-mlink-builtin-bitcode", "-Xclang");
  vec_push(&w, compiler.bitcode);
  // warnings of a link are about libclc
  ok = ok && run_clang(&w, &said) && file_read(linked, out, NULL);
  if (!ok && said.len) str_add(log, said.data);
  str_free(&said);
  vec_free(&w);
  str_free(&library);
  return ok;
}

// Optimised assembly to PTX; inline_chains.c says why the locations change.
static bool numbered_ptx(const char *assembly, OclFolder *f, Str *out) {
  Words w = {0};
  Str text = {0}, said = {0};
  char *numbered = ocl_folder_file(f, "numbered.ll"), *ptx = ocl_folder_file(f, "program.ptx");
  ocl_number_inlined(assembly, &text);
  ADD(&w, "-x", "ir", "-O2", "-w", "-Xclang", "-disable-llvm-passes", "-S", "-o");
  vec_push(&w, ptx);
  vec_push(&w, numbered);
  bool ok = file_write(numbered, text.data, text.len, NULL) && run_clang(&w, &said) &&
            file_read(ptx, out, NULL);
  if (!ok) log_verbose("no chains of inlined calls: %s", said.len ? said.data : "");
  vec_free(&w);
  str_free(&text);
  str_free(&said);
  return ok;
}

// `assembly`: with the chains of inlined calls. A compiler that does not read its own assembly
// makes PTX at once, without them.
static bool make_ptx(const OclRequest *r, OclFolder *f, Str *assembly, Str *out, Str *log) {
  return link_objects(r, f, false, assembly, log) &&
         (numbered_ptx(assembly->data, f, out) || link_objects(r, f, true, out, log));
}

static cl_int work(const OclRequest *r, const Str *options, Str *out, Str *log) {
  OclFolder f = {0};
  Str assembly = {0}, linked = {0}, ptx = {0};
  Error err = {0};
  if (!ocl_folder_open(&f)) {
    str_add(log, "no temporary folder can be made in /tmp\n");
    return CL_OUT_OF_HOST_MEMORY;
  }
  OclRequest objects = *r;
  bool ok = !r->source || compile(r, options, &f, &assembly, log);
  if (ok && r->source) {
    memset(&objects.objects, 0, sizeof objects.objects);
    vec_push(&objects.objects, assembly.data);
  }
  cl_int result = ok ? CL_SUCCESS : CL_COMPILE_PROGRAM_FAILURE;
  if (ok && r->link) {
    ok = make_ptx(&objects, &f, &linked, &ptx, log);
    result = ok ? CL_SUCCESS : CL_LINK_PROGRAM_FAILURE;
  }
  if (!result && !r->link) str_add(out, assembly.data);
  if (!result && r->link && !ocl_fit(ptx.data, linked.data, &objects, out, &err)) {
    str_printf(log, "%s\n", err.text);
    result = CL_LINK_PROGRAM_FAILURE;
  }
  ocl_folder_close(&f);
  if (r->source) vec_free(&objects.objects);
  str_free(&assembly);
  str_free(&linked);
  str_free(&ptx);
  return result;
}

static uint64_t key_of(const OclRequest *r, const Str *options) {
  Str all = {0};
  str_printf(&all, "%s%s %d %d", OCL_IMAGE_MARK, WARPGRIND_VERSION, r->link,
             wg_opencl_tests_indices());
  str_addn(&all, options->data ? options->data : "", options->len);
  str_add(&all, r->source ? r->source : "");
  for (uint32_t i = 0; i < r->objects.len; i++) str_add(&all, r->objects.data[i]);
  for (uint32_t i = 0; i < r->headers.len; i++) str_add(&all, r->headers.data[i]);
  uint64_t key = base_hash(all.data, all.len);
  str_free(&all);
  return key;
}

static void say_missing(Str *log) {
  str_add(log,
          "Warpgrind compiles OpenCL C with clang 17 or newer and libclc, and does not find both. "
          "Debian and Ubuntu: apt-get install clang-19 libclc-19. WARPGRIND_OPENCL_CLANG and "
          "WARPGRIND_LIBCLC name a clang and an nvptx64--nvidiacl.bc that lie elsewhere.\n");
  log_once("opencl compiler", "%.*s", (int)log->len - 1, log->data);
}

// Files that a source includes may change: such programs are compiled every time.
static bool may_keep(const OclRequest *r) { return !r->source || !strstr(r->source, "#include"); }

cl_int ocl_compile(const OclRequest *r, Str *out, Str *log) {
  Str options = {0};
  const char *bad;
  bool library, present = ocl_compiler_present();
  if (!ocl_options(r->options, &options, &bad, &library)) {
    str_printf(log, "%s is not an option of this compiler\n", bad);
    return r->source ? CL_INVALID_BUILD_OPTIONS : CL_INVALID_LINKER_OPTIONS;
  }
  uint64_t key = key_of(r, &options);
  const char *name = present ? compiler.name : NULL;
  cl_int result = CL_SUCCESS;
  if (!may_keep(r) || !ocl_cache_find(name, key, out)) {
    if (present) result = work(r, &options, out, log);
    else {
      say_missing(log);
      result = CL_COMPILER_NOT_AVAILABLE;
    }
    if (!result && may_keep(r)) ocl_cache_keep(name, key, out);
  }
  str_free(&options);
  return result;
}
