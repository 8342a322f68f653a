// Names of tools: a list as --tool takes it, and the name that was probably meant.
#include "base/suggest.h"
#include "weave/weave.h"

static const char *const names[] = {
#define TOOL(id, name, help) #name,
#include "tools/tools.def"
};

static const struct {
  const char *name;
  ToolId id;
} aliases[] = {
#define TOOL_ALIAS(name, id) {#name, TOOL_##id},
#include "tools/tools.def"
};

const char *tool_name(ToolId id) { return names[id]; }

static bool is_name(const char *name, const char *p, size_t n) {
  return strlen(name) == n && !memcmp(name, p, n);
}

// TOOL_COUNT_: there is none of this name.
static unsigned find_tool(const char *p, size_t n) {
  for (unsigned i = 0; i < ARRAY_LEN(names); i++)
    if (is_name(names[i], p, n)) return i;
  for (size_t i = 0; i < ARRAY_LEN(aliases); i++)
    if (is_name(aliases[i].name, p, n)) return aliases[i].id;
  return TOOL_COUNT_;
}

static bool unknown_tool(const char *name, size_t n, Error *err) {
  Suggestion guess = suggest_begin(name, n);
  for (size_t i = 0; i < ARRAY_LEN(names); i++) suggest_consider(&guess, names[i]);
  return error_set(err, "--tool: there is no tool `%.*s`%s%s%s.", (int)n, name,
                   guess.best ? " (did you mean " : "", guess.best ? guess.best : "",
                   guess.best ? "?)" : "");
}

bool tools_parse(const char *list, unsigned *tools, Error *err) {
  *tools = 0;
  if (!strcmp(list, "none")) return true;
  if (!strcmp(list, "all")) {
    // all tools that check, without those that --record and `profile` start
    *tools = ((1u << ARRAY_LEN(names)) - 1) & ~(TOOL_BIT(RECORD) | TOOL_BIT(PROFILE));
    return true;
  }
  for (const char *p = list;; p++) {
    size_t n = strcspn(p, ",");
    unsigned tool = find_tool(p, n);
    if (tool == TOOL_COUNT_) return unknown_tool(p, n, err);
    *tools |= 1u << tool;
    p += n;
    if (!*p) return true;
  }
}
