// Turns the caching allocators of frameworks off. They take device memory in large pieces, so that
// a tool sees one allocation where the program has many tensors. Some tools need each tensor
// to be an allocation of the driver.
#include "cli/cli.h"

#include "weave/weave.h"

static const struct {
  const char *variable, *value;
} switches[] = {
    {"PYTORCH_NO_CUDA_MEMORY_CACHING", "1"},
    {"XLA_PYTHON_CLIENT_ALLOCATOR", "platform"},  // JAX
    {"XLA_PYTHON_CLIENT_PREALLOCATE", "false"},
};

// Adds our Python code to the program: it turns PyTorch's cache on again for private pools.
static void add_to_python(const char *folder) {
  const char *old = getenv("PYTHONPATH");
  Str path = {0};
  str_printf(&path, "%s/python%s%s", folder, old && *old ? ":" : "", old ? old : "");
  setenv("PYTHONPATH", path.data, 1);
  str_free(&path);
}

// Names our library as the one that a program's NVTX calls load. A child that does not run under
// Warpgrind must not load it.
static void hear_nvtx(const Options *o, const char *folder) {
  Str library = {0};
  str_printf(&library, "%s/libcuda.so.1", folder);
  if (options_flag(o, OPT_TRACE_CHILDREN)) setenv("NVTX_INJECTION64_PATH", library.data, 0);
  str_free(&library);
}

void cli_allocators_environment(const Options *o, const char *folder) {
  unsigned tools = 0;
  Error err;
  if (!tools_parse(options_text(o, OPT_TOOL), &tools, &err)) return;
  if (tools_hear_nvtx(tools)) hear_nvtx(o, folder);
  if (!tools_need_each_object(tools) || !options_is(o, OPT_FRAMEWORK_ALLOCATORS, "plain")) return;
  // the user's own setting wins
  if (!getenv("PYTORCH_NO_CUDA_MEMORY_CACHING")) {
    setenv("WARPGRIND_UNCACHED", "1", 1);
    add_to_python(folder);
  }
  for (size_t i = 0; i < ARRAY_LEN(switches); i++)
    setenv(switches[i].variable, switches[i].value, 0);
}
