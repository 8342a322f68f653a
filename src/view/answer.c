// Finds the endpoint of a request, and checks that it knows the parameters.
#include "view/internal.h"

static const struct {
  const char *path, *parameters;
  void (*answer)(ViewDesk *, ViewRequest *, ViewAnswer *);
} endpoints[] = {
#define ENDPOINT(name, parameters, what) {"/api/" #name, parameters, view_answer_##name},
#include "view/endpoints.def"
#undef ENDPOINT
};

static bool has_word(const char *words, const char *word) {
  size_t n = strlen(word);
  for (const char *p = words; *p; p += strcspn(p, " "), p += strspn(p, " "))
    if (strcspn(p, " ") == n && strncmp(p, word, n) == 0) return true;
  return false;
}

static int find(const char *path) {
  for (size_t i = 0; i < ARRAY_LEN(endpoints); i++)
    if (strcmp(endpoints[i].path, path) == 0) return (int)i;
  return -1;
}

bool view_is_endpoint(const char *path) { return find(path) >= 0; }

void view_answer(ViewDesk *d, ViewRequest *q, ViewAnswer *a) {
  *a = (ViewAnswer){.status = 200, .type = "application/json"};
  int i = find(q->path);
  if (i < 0) {
    view_fail(a, 404, "there is no such question");
    return;
  }
  for (unsigned k = 0; k < q->nparameters; k++)
    if (!has_word(endpoints[i].parameters, q->parameters[k].name)) {
      view_fail(a, 400, "a parameter is not known here");
      return;
    }
  view_desk_begin(d);
  endpoints[i].answer(d, q, a);
  Error damage = {{0}};
  if (!store_is_whole(d->store, &damage)) view_fail(a, 500, damage.text);
  if (q->error.text[0] && a->status == 200) view_fail(a, 400, q->error.text);
}
