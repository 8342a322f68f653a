#include "cli/run_tools.h"

#include "tools/report.h"

static const ToolReport *next(unsigned *at) { return tool_report_at((*at)++); }

#define EACH_TOOL(tool) \
  unsigned at = 0; \
  for (const ToolReport *tool; (tool = next(&at));)

bool cli_tools_replace_checks(const Options *o) {
  EACH_TOOL(tool)
  if (tool->replaces_checks && tool->replaces_checks(o)) return true;
  return false;
}

bool cli_tools_check(Options *o, Error *err) {
  EACH_TOOL(tool)
  if (tool->check_options && !tool->check_options(o, err)) return false;
  return true;
}

uint64_t cli_tools_ring_bytes(const Options *o) {
  uint64_t bytes = 0;
  EACH_TOOL(tool)
  if (tool->ring_bytes) bytes += tool->ring_bytes(o);
  return bytes;
}

bool cli_tools_start(const Options *o, ChannelReader *reader, Run *r, Error *err) {
  EACH_TOOL(tool)
  if (tool->start && !tool->start(o, reader, r, err)) return false;
  return true;
}

void cli_tools_look(Run *r) {
  EACH_TOOL(tool)
  if (tool->look) tool->look(r);
}

bool cli_tools_choose(const Options *o, const char *buffer) {
  bool chosen = false;
  EACH_TOOL(tool) chosen |= tool->chooses_buffer && tool->chooses_buffer(o, buffer);
  return chosen;
}

void cli_tools_finished(const Run *r, const Options *o) {
  EACH_TOOL(tool)
  if (tool->finished) tool->finished(r, o);
}

bool cli_tools_over_limits(Run *r, const Options *o, Str *out) {
  bool over = false;
  EACH_TOOL(tool) over |= tool->over_limits && tool->over_limits(r, o, out);
  return over;
}

void cli_tools_end(Run *r) {
  EACH_TOOL(tool)
  if (tool->end) tool->end(r);
}
