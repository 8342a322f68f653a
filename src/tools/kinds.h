// Kinds of finding. Each tool lists its own in src/tools/<tool>/kinds.def; those that belong to no
// tool are in src/session/kinds.def. The build joins the lists to one table (kinds.c). Device
// records, run files and reports depend on the parts of a kind, and not on its name.
//
// A line of kinds.def: KIND(id, number, name, severity, title, parts). Device records and run
// files hold the number: it never changes and is never used again.
#ifndef WG_TOOLS_KINDS_H
#define WG_TOOLS_KINDS_H

#include "base/base.h"
#include "tools/kind_parts.h"

typedef enum { SEVERITY_NONE, SEVERITY_NOTE, SEVERITY_WARNING, SEVERITY_ERROR } Severity;
const char *severity_name(Severity s);  // "error"

typedef struct Kind {
  uint32_t number;
  const char *name;   // "race-shared"
  const char *title;  // "Race on {shared} memory": see base/api_words.h
  Severity severity;
  uint32_t parts;     // HAS_ADDRESS …
  const char *owner;  // the folder of its kinds.def: "memcheck"
} Kind;

const Kind *kind_numbered(uint32_t number);  // NULL: no such kind
const Kind *kind_named(const char *name);
const Kind *kind_after(const Kind *k);  // the next by number; k NULL: the first; NULL: the last was

#endif
