#include "tools/kinds.h"

// by number
static const Kind kinds[] = {
#define KIND(id, number, name, severity, title, parts) \
  [number] = {number, name, title, SEVERITY_##severity, parts, KIND_OWNER},
#include "all_kinds.def"
#undef KIND
};

const Kind *kind_numbered(uint32_t number) {
  return number < ARRAY_LEN(kinds) && kinds[number].name ? &kinds[number] : NULL;
}

const Kind *kind_named(const char *name) {
  for (const Kind *k = NULL; name && (k = kind_after(k));)
    if (strcmp(k->name, name) == 0) return k;
  return NULL;
}

const Kind *kind_after(const Kind *k) {
  for (uint32_t number = k ? k->number + 1 : 0; number < ARRAY_LEN(kinds); number++)
    if (kinds[number].name) return &kinds[number];
  return NULL;
}

const char *severity_name(Severity s) {
  static const char *const names[] = {"none", "note", "warning", "error"};
  return names[s];
}
