// Stacks of frameworks: dozens of functions between a line of Python and the launch become one line
// of a report, with the operator that they execute.
#include "report/internal.h"

static const struct {
  const char *library, *framework;
} libraries[] = {{"libtorch", "PyTorch"}, {"libc10", "PyTorch"},   {"xla_", "XLA"},
                 {"libjax", "XLA"},       {"libpython", "Python"}, {"python3", "Python"}};

static bool starts_with(const char *s, const char *prefix) {
  return strncmp(s, prefix, strlen(prefix)) == 0;
}

const char *report_framework(const RunFrame *f) {
  if (!f->object || f->file || f->python) return NULL;
  const char *slash = strrchr(f->object, '/'), *name = slash ? slash + 1 : f->object;
  for (size_t i = 0; i < ARRAY_LEN(libraries); i++)
    if (starts_with(name, libraries[i].library)) return libraries[i].framework;
  return NULL;
}

// at::_ops::log::call(…) is aten::log; torch::autograd::generated::LogBackward0::apply(…) is a step
// of a backward pass.
static bool find_name(const RunFrame *f, const char *prefix, const char **name, size_t *len) {
  const char *at = f->function ? strstr(f->function, prefix) : NULL;
  if (!at) return false;
  *name = at + strlen(prefix);
  *len = strcspn(*name, ":(");
  return (*name)[*len] == ':' && *len;
}

bool report_operator(const RunFrame *frames, uint32_t n, Str *out) {
  const char *first = NULL, *last = NULL, *step = NULL, *name;
  size_t first_len = 0, last_len = 0, step_len = 0, len;
  for (uint32_t i = 0; i < n; i++) {
    if (!step && find_name(&frames[i], "torch::autograd::generated::", &step, &step_len)) continue;
    if (!find_name(&frames[i], "at::_ops::", &name, &len)) continue;
    if (!first) {
      first = name;
      first_len = len;
    }
    last = name;
    last_len = len;
  }
  if (first) str_printf(out, "aten::%.*s", (int)first_len, first);
  if (last && (last_len != first_len || strncmp(first, last, len)))
    str_printf(out, " of aten::%.*s", (int)last_len, last);
  if (step) str_printf(out, "%s%.*s", first ? " in " : "", (int)step_len, step);
  return first || step;
}
