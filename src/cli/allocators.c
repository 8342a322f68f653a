// Frameworks get device memory in large pieces and deal it out themselves: the driver, and so a tool, sees one allocation where the program
// has many tensors. Under a tool that checks memory they are told to ask the driver each time, where they have a switch for that.
#include "cli/cli.h"

#include "instrument/instrument.h"

static const struct { const char *variable, *value; } switches[] = {
  {"PYTORCH_NO_CUDA_MEMORY_CACHING", "1"},
  {"XLA_PYTHON_CLIENT_ALLOCATOR", "platform"},           // JAX
  {"XLA_PYTHON_CLIENT_PREALLOCATE", "false"},
};

void cli_allocators_environment(const Options *o) {
  unsigned tools = 0;
  Error err;
  if (!instrument_tools_parse(options_text(o, OPT_TOOL), &tools, &err) || !(tools & (TOOL_BIT(MEMCHECK) | TOOL_BIT(INITCHECK)))) return;
  if (!options_is(o, OPT_FRAMEWORK_ALLOCATORS, "plain")) return;
  for (size_t i = 0; i < ARRAY_LEN(switches); i++) setenv(switches[i].variable, switches[i].value, 0);   // what the user set stands
}
