// Options for the driver's compiler: the JIT options the program passed, and the ptxas options a
// fatbin keeps for its PTX.
#define _GNU_SOURCE
#include "gpu/modules/modules.h"

enum { LOG_SIZE = 8192 };

// The program's options that shape the code. Log buffers, timers and what only concerns link-time
// code are the program's own business and stay with its own load. See docs/gpu-modules.md.
enum {
  JIT_MIN_CTA_PER_SM = 31,
  JIT_MAX_THREADS_PER_BLOCK = 32,
  JIT_OVERRIDE_DIRECTIVE_VALUES = 33
};
static bool is_kept(int option) {
  switch (option) {
    case CU_JIT_MAX_REGISTERS:
    case CU_JIT_THREADS_PER_BLOCK:
    case CU_JIT_OPTIMIZATION_LEVEL:
    case CU_JIT_TARGET_FROM_CUCONTEXT:
    case CU_JIT_TARGET:
    case CU_JIT_FALLBACK_STRATEGY:
    case CU_JIT_GENERATE_DEBUG_INFO:
    case CU_JIT_GENERATE_LINE_INFO:
    case CU_JIT_CACHE_MODE:
    case JIT_MIN_CTA_PER_SM:
    case JIT_MAX_THREADS_PER_BLOCK:
    case JIT_OVERRIDE_DIRECTIVE_VALUES: return true;
    default: return false;
  }
}

static bool has(const GpuJit *jit, int option) {
  for (unsigned i = 0; i < jit->n; i++)
    if ((int)jit->names[i] == option) return true;
  return false;
}

// replaces an option that is there already
static void jit_add(GpuJit *jit, CUjit_option name, uintptr_t value) {
  unsigned i = 0;
  while (i < jit->n && jit->names[i] != name) i++;
  if (i == ARRAY_LEN(jit->names)) return;
  jit->names[i] = name;
  jit->values[i] = (void *)value;
  jit->n = MAX(jit->n, i + 1);
}

static void keep_symbols(GpuJit *jit, const char **names, void **addresses, uintptr_t count) {
  size_t bytes = count * 2 * sizeof(void *);
  for (uintptr_t i = 0; i < count; i++) bytes += strlen(names[i]) + 1;
  char **copy = mem_alloc(bytes), *text = (char *)(copy + 2 * count);
  for (uintptr_t i = 0; i < count; i++) {
    copy[i] = text;
    text = stpcpy(text, names[i]) + 1;
  }
  memcpy(copy + count, addresses, count * sizeof(void *));
  jit->copies = copy;
  jit->has_symbols = true;
  jit_add(jit, CU_JIT_GLOBAL_SYMBOL_NAMES, (uintptr_t)copy);
  jit_add(jit, CU_JIT_GLOBAL_SYMBOL_ADDRESSES, (uintptr_t)(copy + count));
  jit_add(jit, CU_JIT_GLOBAL_SYMBOL_COUNT, count);
}

void gpu_jit_keep(GpuJit *out, unsigned n, const CUjit_option *names, void *const *values) {
  *out = (GpuJit){0};
  const char **symbol_names = NULL;
  void **addresses = NULL;
  uintptr_t count = 0;
  for (unsigned i = 0; names && values && i < n; i++) {
    if (is_kept((int)names[i])) jit_add(out, names[i], (uintptr_t)values[i]);
    if (names[i] == CU_JIT_GLOBAL_SYMBOL_NAMES) symbol_names = (const char **)values[i];
    if (names[i] == CU_JIT_GLOBAL_SYMBOL_ADDRESSES) addresses = (void **)values[i];
    if (names[i] == CU_JIT_GLOBAL_SYMBOL_COUNT) count = (uintptr_t)(unsigned)(uintptr_t)values[i];
    if (names[i] == CU_JIT_OPTIMIZATION_LEVEL && !(unsigned)(uintptr_t)values[i])
      out->contract_off = true;
  }
  if (symbol_names && addresses && count) keep_symbols(out, symbol_names, addresses, count);
}

// --- ptxas options ---

// How each option nvcc may leave in a fatbin is carried over.
typedef enum {
  AS_JIT_NUMBER,
  AS_JIT_FLAG,
  AS_LEVEL,
  AS_FMAD,
  AS_CACHE,
  IGNORED,
  IGNORED_VALUE
} PtxasMeaning;
static const struct {
  const char *name;
  PtxasMeaning meaning;
  CUjit_option jit;
} ptxas_options[] = {
    {"maxrregcount", AS_JIT_NUMBER, CU_JIT_MAX_REGISTERS},
    {"O", AS_LEVEL, CU_JIT_OPTIMIZATION_LEVEL},
    {"opt-level", AS_LEVEL, CU_JIT_OPTIMIZATION_LEVEL},
    {"lineinfo", AS_JIT_FLAG, CU_JIT_GENERATE_LINE_INFO},
    {"generate-line-info", AS_JIT_FLAG, CU_JIT_GENERATE_LINE_INFO},
    {"fmad", AS_FMAD, 0},
    {"dlcm", AS_CACHE, CU_JIT_CACHE_MODE},
    {"def-load-cache", AS_CACHE, CU_JIT_CACHE_MODE},
    {"v", IGNORED, 0},
    {"verbose", IGNORED, 0},
    {"w", IGNORED, 0},
    {"disable-warnings", IGNORED, 0},
    {"c", IGNORED, 0},
    {"compile-only", IGNORED, 0},  // -rdc=true: we link it too
    {"warn-spills", IGNORED, 0},
    {"warn-on-spills", IGNORED, 0},
    {"warn-lmem-usage", IGNORED, 0},
    {"warn-on-local-memory-usage", IGNORED, 0},
    {"warn-double-usage", IGNORED, 0},
    {"warn-on-double-precision-use", IGNORED, 0},
    {"suppress-stack-size-warning", IGNORED, 0},
    {"suppress-double-demote-warning", IGNORED, 0},
    {"suppress-async-bulk-multicast-advisory-warning", IGNORED, 0},
    {"Werror", IGNORED, 0},
    {"warning-as-error", IGNORED, 0},
    {"split-compile", IGNORED_VALUE, 0},
};

static bool next_token(const char **at, char *token, size_t size) {
  *at += strspn(*at, " \t\n");
  size_t n = strcspn(*at, " \t\n");
  snprintf(token, size, "%.*s", (int)n, *at);
  *at += n;
  return n > 0;
}

static void add_option(GpuJit *jit, unsigned which, const char *value) {
  CUjit_option name = ptxas_options[which].jit;
  switch (ptxas_options[which].meaning) {
    case AS_JIT_NUMBER:
      if (!has(jit, (int)name)) jit_add(jit, name, strtoul(value, NULL, 0));
      break;
    case AS_JIT_FLAG:
      if (!has(jit, (int)name)) jit_add(jit, name, 1);
      break;
    case AS_LEVEL:
      if (has(jit, (int)name)) break;
      jit_add(jit, name, strtoul(value, NULL, 0));
      if (!strtoul(value, NULL, 0)) jit->contract_off = true;
      break;
    case AS_FMAD:
      if (!strcmp(value, "false")) jit->contract_off = true;
      break;
    case AS_CACHE:
      if (strcmp(value, "ca") && strcmp(value, "cg")) jit->needs_fatbin = true;
      else if (!has(jit, (int)name)) jit_add(jit, name, !strcmp(value, "ca") ? 2 : 1);
      break;
    case IGNORED:
    case IGNORED_VALUE: break;
  }
}

static bool takes_value(PtxasMeaning m) { return m != AS_JIT_FLAG && m != IGNORED; }

void gpu_jit_add_ptxas(GpuJit *jit, const char *options) {
  char token[256], next[256];
  while (next_token(&options, token, sizeof token)) {
    const char *name = token + strspn(token, "-");
    const char *equals = strchr(name, '=');
    size_t n = equals ? (size_t)(equals - name) : strlen(name);
    if (name == token) {
      jit->needs_fatbin = true;
      continue;
    }
    unsigned which = 0;
    bool level = name[0] == 'O' && name[1] >= '0' && name[1] <= '9' && !name[2];
    for (; which < ARRAY_LEN(ptxas_options); which++)
      if (level ? !strcmp(ptxas_options[which].name, "O")
                : strlen(ptxas_options[which].name) == n &&
                      !memcmp(ptxas_options[which].name, name, n))
        break;
    if (which == ARRAY_LEN(ptxas_options)) {
      jit->needs_fatbin = true;
      continue;
    }
    const char *value = level ? name + 1 : equals ? equals + 1 : "";
    if (!*value && takes_value(ptxas_options[which].meaning))
      value = next_token(&options, next, sizeof next) ? next : "";
    add_option(jit, which, value);
  }
}

// --- the rest ---

void gpu_jit_add_log(GpuJit *jit) {
  jit->log = mem_alloc(LOG_SIZE);
  jit_add(jit, CU_JIT_ERROR_LOG_BUFFER, (uintptr_t)jit->log);
  jit_add(jit, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES, LOG_SIZE - 1);
}

GpuHash gpu_jit_hash(const GpuJit *jit, GpuHash seed) {
  for (unsigned i = 0; i < jit->n; i++) {
    uint64_t pair[2] = {(uint64_t)jit->names[i], (uintptr_t)jit->values[i]};
    seed = gpu_hash(pair, sizeof pair, seed);
  }
  uint64_t modes = jit->contract_off | (uint64_t)jit->needs_fatbin << 1;
  return gpu_hash(&modes, sizeof modes, seed);
}

void gpu_jit_free(GpuJit *jit) {
  free(jit->log);
  jit->log = NULL;
}
