// The parameters of a request, checked against an endpoint's limits.
#include "view/internal.h"

#include <errno.h>

const char *view_text(const ViewRequest *q, const char *name) {
  for (unsigned i = 0; i < q->nparameters; i++)
    if (strcmp(q->parameters[i].name, name) == 0) return q->parameters[i].value;
  return NULL;
}

bool view_given(const ViewRequest *q, const char *name) { return view_text(q, name) != NULL; }

static void wrong(ViewRequest *q, const char *name, const char *why) {
  if (!q->error.text[0]) error_set(&q->error, "%s: %s", name, why);
}

uint64_t view_number(ViewRequest *q, const char *name, uint64_t most) {
  const char *text = view_text(q, name);
  if (!text) {
    wrong(q, name, "is missing");
    return 0;
  }
  if (!*text || strspn(text, "0123456789") != strlen(text)) {
    wrong(q, name, "must be a number");
    return 0;
  }
  errno = 0;
  uint64_t n = strtoull(text, NULL, 10);
  if (errno || n > most) {
    wrong(q, name, "is too large");
    return 0;
  }
  return n;
}

uint64_t view_number_or(ViewRequest *q, const char *name, uint64_t otherwise, uint64_t most) {
  return view_given(q, name) ? view_number(q, name, most) : otherwise;
}

uint64_t view_address(ViewRequest *q, const char *name) {
  const char *text = view_text(q, name);
  if (!text) {
    wrong(q, name, "is missing");
    return 0;
  }
  if (strncmp(text, "0x", 2) != 0 || !text[2] || strlen(text) > 18 ||
      strspn(text + 2, "0123456789abcdef") != strlen(text + 2)) {
    wrong(q, name, "must be an address: 0x and at most 16 digits, small letters");
    return 0;
  }
  return strtoull(text + 2, NULL, 16);
}

void view_fail(ViewAnswer *a, unsigned status, const char *text) {
  str_free(&a->body);
  a->body = (Str){0};
  a->status = status;
  a->type = "application/json";
  str_add(&a->body, "{");
  json_text(&a->body, "error", text);
  str_add(&a->body, "}");
}
