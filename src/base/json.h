// Pieces of JSON; each adds the comma before it where one is needed.
#ifndef WG_JSON_H
#define WG_JSON_H

#include "base/base.h"

// Bytes of the UTF-8 character that starts here; 0: not a character.
unsigned json_utf8_length(const char *text);
void json_string(Str *s, const char *text);  // without a comma
void json_key(Str *s, const char *key);
void json_text(Str *s, const char *key, const char *value);  // nothing where value is NULL
void json_number(Str *s, const char *key, uint64_t value);
void json_address(Str *s, const char *key, uint64_t value);  // "0x7f…"
void json_three(Str *s, const char *key, const uint32_t *v);
void json_open(Str *s, const char *key, char bracket);  // { or [; key NULL: an element of a list

#endif
