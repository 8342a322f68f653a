// Source text as far as names of buffers need it; source.c, pointer.c.
#ifndef WG_RUN_SOURCE_H
#define WG_RUN_SOURCE_H

#include "base/base.h"

// comments and strings are blank; lines: where each begins
typedef struct Source {
  char *text;
  uint32_t *lines, nlines;
} Source;

bool source_read(Source *s, const char *path);  // false: not readable, or too large
void source_free(Source *s);

// name, and its two parentheses
typedef struct SourceCall {
  const char *name, *open, *close;
} SourceCall;
typedef bool SourceIsWanted(const char *name, size_t n, void *user);
// Finds the calls of wanted functions that this line is a part of, in order; returns how many. out:
// room for `most`
uint32_t source_calls(const Source *s, uint32_t line, SourceIsWanted *wanted, void *user,
                      SourceCall *out, uint32_t most);
// The one call of a wanted function that this line is a part of. false: there is none, or more than
// one.
bool source_call(const Source *s, uint32_t line, SourceIsWanted *wanted, void *user,
                 SourceCall *out);

typedef enum { ARGUMENT_OTHER, ARGUMENT_ADDRESS, ARGUMENT_PLAIN } ArgumentKind;  // &x; x
// Casts and parentheses do not count. x must be a name, or names with . -> :: and [] between them;
// out holds it without spaces.
ArgumentKind source_argument(const char *from, const char *to, char *out, size_t size);
// the next comma outside of parentheses, or close
const char *source_argument_end(const char *from, const char *close);
// x of `x = call(…)`
bool source_assigned(const Source *s, const SourceCall *c, char *out, size_t size);
// The name of a parameter, counted from 0, of the one function of this name that is defined here;
// pointer: only of one that is declared as a pointer.
bool source_parameter(const Source *s, const char *function, uint32_t index, bool pointer,
                      char *out, size_t size);
// The braces of the body of the one function of this name that is defined here.
bool source_body(const Source *s, const char *function, const char **open, const char **close);
// `return name;` follows in the same function
bool source_is_returned(const Source *s, const char *from, const char *name);

#endif
