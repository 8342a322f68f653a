// Explains why the driver refused a launch: which limit of the kernel or the device it exceeds.
#include "cuda/abi.h"
#include "tools/memcheck/host.h"

typedef struct Question {
  const SessionLaunch *launch;
  SessionAsk *ask;
  void *user;
  Str why;  // the reason, once a check has found it
} Question;

static bool kernel_has(const Question *q, int attribute, int *value) {
  return q->ask(q->user, SESSION_ASK_KERNEL, attribute, value);
}

// UINT64_MAX if the driver does not tell.
static uint64_t device_limit(const Question *q, CUdevice_attribute attribute) {
  int value = 0;
  return q->ask(q->user, SESSION_ASK_DEVICE, (int)attribute, &value) && value > 0 ? (uint64_t)value
                                                                                  : UINT64_MAX;
}

static uint64_t product(const uint32_t n[3]) { return (uint64_t)n[0] * n[1] * n[2]; }

static bool check_empty(Question *q) {
  const SessionLaunch *l = q->launch;
  if (product(l->grid) && product(l->block)) return false;
  const uint32_t *n = product(l->grid) ? l->block : l->grid;
  str_printf(&q->why, "%s: %u x %u x %u",
             product(l->grid) ? "a block without threads" : "a grid without blocks", n[0], n[1],
             n[2]);
  return true;
}

static bool check_dimensions(Question *q, const uint32_t n[3], CUdevice_attribute first,
                             const char *of) {
  for (int i = 0; i < 3; i++) {
    uint64_t most = device_limit(q, (CUdevice_attribute)((int)first + i));
    if (n[i] <= most) continue;
    str_printf(&q->why, "a %s of %u x %u x %u: this device can have %llu in %c", of, n[0], n[1],
               n[2], (unsigned long long)most, "xyz"[i]);
    return true;
  }
  return false;
}

static bool check_threads(Question *q) {
  uint64_t threads = product(q->launch->block),
           most = device_limit(q, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
  if (threads > most) {
    str_printf(&q->why, "a block of %llu threads: at most %llu are possible",
               (unsigned long long)threads, (unsigned long long)most);
    return true;
  }
  int kernel_most = 0, registers = 0;
  if (!kernel_has(q, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, &kernel_most) || kernel_most <= 0 ||
      threads <= (uint64_t)kernel_most)
    return false;
  kernel_has(q, CU_FUNC_ATTRIBUTE_NUM_REGS, &registers);
  uint64_t all = device_limit(q, CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK);
  str_printf(&q->why, "a block of %llu threads: this kernel can have %d",
             (unsigned long long)threads, kernel_most);
  if (registers > 0 && threads * (uint64_t)registers > all)
    str_printf(&q->why,
               ", for each takes %d of the %llu registers of a block (compile with "
               "__launch_bounds__ or --maxrregcount)",
               registers, (unsigned long long)all);
  else str_add(&q->why, ", as its __launch_bounds__ say");
  return true;
}

static bool check_required_block(Question *q) {
  const uint32_t *b = q->launch->block;
  int n[3] = {0};
  for (int i = 0; i < 3; i++)
    if (!q->ask(q->user, SESSION_ASK_REQUIRED_BLOCK, i, &n[i])) return false;
  if (!n[0] || ((int)b[0] == n[0] && (int)b[1] == MAX(n[1], 1) && (int)b[2] == MAX(n[2], 1)))
    return false;
  str_printf(&q->why, "a block of %u x %u x %u: this kernel was compiled for exactly %d x %d x %d",
             b[0], b[1], b[2], n[0], MAX(n[1], 1), MAX(n[2], 1));
  return true;
}

static bool check_shared(Question *q) {
  int fixed = 0, allowed = 0;
  uint64_t most = device_limit(q, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN),
           dynamic = q->launch->shared;
  if (!kernel_has(q, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, &fixed) ||
      !kernel_has(q, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, &allowed))
    return false;
  if (dynamic <= (uint64_t)MAX(allowed, 0)) return false;
  str_printf(&q->why, "%llu bytes of dynamic shared memory", (unsigned long long)dynamic);
  if (fixed) str_printf(&q->why, " besides %d of static", fixed);
  if (dynamic + (uint64_t)fixed > most)
    str_printf(&q->why, ": a block of this device has at most %llu", (unsigned long long)most);
  else
    str_printf(&q->why,
               ": the kernel may have %d until cudaFuncSetAttribute(kernel, "
               "cudaFuncAttributeMaxDynamicSharedMemorySize, %llu) was called",
               MAX(allowed, 0), (unsigned long long)dynamic);
  return true;
}

enum { PORTABLE_CLUSTER = 8, LARGEST_CLUSTER = 16 };

static bool check_cluster(Question *q) {
  const uint32_t *c = q->launch->cluster, *g = q->launch->grid;
  int must = 0, wanted[3] = {0}, larger = 0;
  kernel_has(q, CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET, &must);
  kernel_has(q, CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, &larger);
  bool given = product(c) > 1 || (c[0] && c[1] && c[2]), fixed = false;
  for (int i = 0; i < 3; i++) {
    kernel_has(q, CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH + i, &wanted[i]);
    fixed |= wanted[i] > 0;
  }
  uint32_t n[3];
  for (int i = 0; i < 3; i++)
    n[i] = given && product(c) > 1 ? c[i] : fixed ? (uint32_t)MAX(wanted[i], 1) : 1;
  if (must && product(n) == 1 && !fixed) {
    str_add(&q->why, "no cluster size: this kernel needs one at its launch "
                     "(cudaLaunchAttributeClusterDimension)");
    return true;
  }
  for (int i = 0; fixed && product(c) > 1 && i < 3; i++)
    if (c[i] != (uint32_t)MAX(wanted[i], 1)) {
      str_printf(&q->why, "clusters of %u x %u x %u: this kernel was compiled for %d x %d x %d",
                 c[0], c[1], c[2], MAX(wanted[0], 1), MAX(wanted[1], 1), MAX(wanted[2], 1));
      return true;
    }
  uint64_t most = larger ? LARGEST_CLUSTER : PORTABLE_CLUSTER;
  if (product(n) > most) {
    str_printf(&q->why, "clusters of %llu blocks: at most %llu are possible",
               (unsigned long long)product(n), (unsigned long long)most);
    if (!larger && product(n) <= LARGEST_CLUSTER)
      str_add(&q->why, " until cudaFuncAttributeNonPortableClusterSizeAllowed is set");
    return true;
  }
  for (int i = 0; i < 3; i++)
    if (g[i] % n[i]) {
      str_printf(
          &q->why,
          "a grid of %u x %u x %u blocks, which is no multiple of the cluster size %u x %u x %u",
          g[0], g[1], g[2], n[0], n[1], n[2]);
      return true;
    }
  return false;
}

static bool check_cooperative(Question *q) {
  int resident = 0;
  if (!q->launch->cooperative || !q->ask(q->user, SESSION_ASK_RESIDENT, 0, &resident)) return false;
  uint64_t sms = device_limit(q, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT),
           blocks = product(q->launch->grid);
  if (resident < 0 || sms == UINT64_MAX || blocks <= (uint64_t)resident * sms) return false;
  str_printf(&q->why,
             "a cooperative launch of %llu blocks: the device holds %llu of this kernel at a time "
             "(%d on each of %llu multiprocessors)",
             (unsigned long long)blocks, (unsigned long long)((uint64_t)resident * sms), resident,
             (unsigned long long)sms);
  return true;
}

static bool find_reason(Question *q) {
  return check_empty(q) ||
         check_dimensions(q, q->launch->grid, CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X, "grid") ||
         check_dimensions(q, q->launch->block, CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X, "block") ||
         check_threads(q) || check_required_block(q) || check_shared(q) || check_cluster(q) ||
         check_cooperative(q);
}

static const char *error_name(int result) {
  switch (result) {
// clang-format off
#define ERROR(name, value, text) case value: return #name;
#include "cuda/errors.def"
      // clang-format on
    default: return "an error";
  }
}

// Errors about the launch itself, not about an earlier kernel that failed or a capture.
static bool is_refusal(int result) {
  return result == CUDA_ERROR_INVALID_VALUE || result == CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES ||
         result == CUDA_ERROR_INVALID_CLUSTER_SIZE ||
         result == CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE;
}

void refused_launch(const SessionRefusal *r) {
  if (!is_refusal(r->result)) return;
  Question q = {r->launch, r->ask, r->user, {0}};
  Str text = {0};
  if (find_reason(&q))
    str_printf(&text, "launch that cannot work: %s; the call returns %s", q.why.data,
               error_name(r->result));
  else if (r->unchanged)
    str_printf(&text, "the driver refuses the launch with %s", error_name(r->result));
  if (text.len)
    session_finding(
        &(SessionFinding){.kind = "api-misuse", .text = text.data, .kernel = r->launch->kernel});
  str_free(&text);
  str_free(&q.why);
}
