// Programs in SPIR-V. Khronos's translator (llvm-spirv) makes LLVM bitcode of them, with calls of
// the built-ins of OpenCL C; from there on they go the way of OpenCL C.
#define _GNU_SOURCE

#include "opencl/opencl.h"

#include <limits.h>

// Bitcode of a version that is not newer than clang's is needed.
static const char *const names[] = {"llvm-spirv-19", "llvm-spirv-18", "llvm-spirv-17",
                                    "llvm-spirv-16", "llvm-spirv-15", "llvm-spirv-14",
                                    "llvm-spirv"};
enum { MAGIC = 0x07230203 };

static pthread_once_t once = PTHREAD_ONCE_INIT;
static char translator[PATH_MAX];  // empty: there is none

static void find_translator(void) {
  const char *wanted = getenv("WARPGRIND_LLVM_SPIRV");
  bool found = wanted && *wanted && ocl_find_program(wanted, translator);
  for (size_t i = 0; !wanted && !found && i < ARRAY_LEN(names); i++)
    found = ocl_find_program(names[i], translator);
  if (!found) translator[0] = 0;
}

bool ocl_translator_present(void) {
  pthread_once(&once, find_translator);
  return translator[0] && ocl_compiler_present();
}

void ocl_translator_missing(void) {
  log_once(
      "opencl translator",
      "the program uses SPIR-V, which Warpgrind translates with llvm-spirv; llvm-spirv was not "
      "found. Debian and Ubuntu: apt-get install llvm-spirv-15. WARPGRIND_LLVM_SPIRV names one "
      "that lies elsewhere.");
}

bool ocl_is_spirv(const void *il, size_t n) {
  uint32_t word = 0;
  if (n < 20 || n % 4) return false;
  memcpy(&word, il, sizeof word);
  return word == MAGIC || word == __builtin_bswap32(MAGIC);
}

static void add_constants(Str *out, const OclConstants *constants) {
  for (uint32_t i = 0; i < constants->len; i++) {
    const OclConstant *c = &constants->data[i];
    str_printf(out, "%s%u:i%zu:%llu", i ? " " : "--spec-const=", c->id, c->bytes * 8,
               (unsigned long long)c->value);
  }
}

static bool run_translator(OclFolder *f, const Str *il, const OclConstants *constants, char *out,
                           Str *log) {
  char *module = ocl_folder_file(f, "module.spv");
  Str values = {0};
  VEC(const char *) w = {0};
  add_constants(&values, constants);
  vec_push(&w, translator);
  vec_push(&w, "-r");
  vec_push(&w, "--spirv-gen-kernel-arg-name-md");
  if (values.len) vec_push(&w, values.data);
  vec_push(&w, "-o");
  vec_push(&w, out);
  vec_push(&w, module);
  vec_push(&w, NULL);
  bool ok = file_write(module, il->data, il->len, NULL) && ocl_run(w.data, log) == 0;
  vec_free(&w);
  str_free(&values);
  return ok;
}

static uint64_t key_of(const Str *il, const OclConstants *constants) {
  Str all = {0};
  str_add(&all, "SPIR-V " WARPGRIND_VERSION);
  add_constants(&all, constants);
  str_addn(&all, il->data, il->len);
  uint64_t key = base_hash(all.data, all.len);
  str_free(&all);
  return key;
}

static cl_int translate(const Str *il, const OclConstants *constants, Str *out, Str *log) {
  OclFolder f = {0};
  Str assembly = {0}, target = {0};
  if (!ocl_folder_open(&f)) {
    str_add(log, "no temporary folder can be made in /tmp\n");
    return CL_OUT_OF_HOST_MEMORY;
  }
  char *bitcode = ocl_folder_file(&f, "module.bc");
  bool ok = run_translator(&f, il, constants, bitcode, log) &&
            ocl_disassemble(&f, bitcode, &assembly, log) && ocl_target_lines(&f, &target, log);
  if (ok) ocl_spirv_assembly(assembly.data, target.data, out);
  else str_printf(log, "%s does not translate this SPIR-V\n", translator);
  ocl_folder_close(&f);
  str_free(&assembly);
  str_free(&target);
  return ok ? CL_SUCCESS : CL_BUILD_PROGRAM_FAILURE;
}

cl_int ocl_translate(const Str *il, const OclConstants *constants, Str *out, Str *log) {
  uint64_t key = key_of(il, constants);
  if (ocl_cache_find(ocl_compiler_name(), key, out)) return CL_SUCCESS;
  if (!ocl_translator_present()) {
    ocl_translator_missing();
    str_add(log, "llvm-spirv, which translates SPIR-V, is not found\n");
    return CL_COMPILER_NOT_AVAILABLE;
  }
  cl_int result = translate(il, constants, out, log);
  if (!result) ocl_cache_keep(ocl_compiler_name(), key, out);
  return result;
}
