// Describes the differences of two runs: for people, and as JSON.
#include "diff/diff.h"

#include <math.h>

#include "base/json.h"

static void add_amount(Str *s, uint64_t a, uint64_t b, DiffType t) {
  if (t.kind == DIFF_BITS || diff_is_nan(a, t) || diff_is_nan(b, t)) return;
  double x = diff_value(a, t), y = diff_value(b, t), distance = fabs(x - y),
         larger = fmax(fabs(x), fabs(y));
  str_printf(s, "   differ by %.3g", distance);
  if (larger > 0 && isfinite(distance)) str_printf(s, ", relative %.3g", distance / larger);
  if (diff_is_float(t)) str_printf(s, ", %llu ULP", (unsigned long long)diff_ulps(a, b, t));
}

static void add_elements(const DiffBufferResult *r, bool unordered, Str *out) {
  const DiffElements *e = &r->elements;
  str_printf(out, "      %llu of %llu elements (%s) differ", (unsigned long long)e->different,
             (unsigned long long)e->compared, diff_type_name(r->type));
  if (e->most_absolute > 0)
    str_printf(out, "; at most by %.3g, relative %.3g", e->most_absolute, e->most_relative);
  if (e->most_ulps && diff_is_float(r->type))
    str_printf(out, ", %llu ULP", (unsigned long long)e->most_ulps);
  if (e->nans) str_printf(out, "; %llu of them with NaN", (unsigned long long)e->nans);
  str_add(out, "\n");
  for (uint32_t i = 0; i < e->nshown; i++) {
    const DiffElement *x = &e->shown[i];
    str_printf(out, "        %s[%llu] = ",
               unordered    ? "sorted"
               : r->a->name ? r->a->name
                            : "",
               (unsigned long long)x->index);
    diff_print(out, x->a, r->type);
    str_add(out, " and ");
    diff_print(out, x->b, r->type);
    add_amount(out, x->a, x->b, r->type);
    str_add(out, "\n");
  }
  if (e->different > e->nshown)
    str_printf(out, "        … and %llu more\n", (unsigned long long)(e->different - e->nshown));
}

static bool is_shuffled(const Diff *d, const DiffBufferResult *r) {
  return r->outcome == DIFF_DIFFERENT && !d->rules.unordered && r->b && r->a->multiset &&
         r->b->multiset && strcmp(r->a->multiset, r->b->multiset) == 0 &&
         r->a->bytes == r->b->bytes;
}

void diff_result_text(const Diff *d, const DiffResult *r, Str *out) {
  diff_step_name(r->pair.a, out);
  if (r->pair.b->launch != r->pair.a->launch)
    str_printf(out, " (launch %u of the second run)", r->pair.b->launch);
  str_add(out, "\n");
  if (r->pair.a->place) str_printf(out, "    launched at %s\n", r->pair.a->place);
  for (uint32_t i = 0; i < r->n; i++) {
    const DiffBufferResult *b = &r->buffers[i];
    static const char *const words[] = {"is the same",
                                        "is the same within the tolerance, but not bit by bit",
                                        "differs", "was not compared", "was not compared"};
    str_add(out, "    ");
    diff_buffer_name(b->a, i, out);
    str_printf(out, " %s", words[b->outcome]);
    if (b->why) str_printf(out, ": %s", b->why);
    str_add(out, "\n");
    if (b->has_elements && b->outcome == DIFF_DIFFERENT) add_elements(b, d->rules.unordered, out);
    if (is_shuffled(d, b))
      str_add(out, "      its elements are the same in another order (--unordered takes that for "
                   "the same)\n");
    if (!b->has_elements && b->outcome == DIFF_DIFFERENT && b->b && b->a->hash && b->b->hash)
      str_printf(out, "      hash %s and %s\n", b->a->hash, b->b->hash);
  }
}

// --- JSON ---

static void json_value(Str *s, const char *key, uint64_t bits, DiffType t) {
  Str text = {0};
  diff_print(&text, bits, t);
  json_text(s, key, text.data);
  str_free(&text);
}

static void json_double(Str *s, const char *key, double v) {
  if (!isfinite(v)) return;
  json_key(s, key);
  str_printf(s, "%.17g", v);
}

static void json_elements(Str *s, const DiffBufferResult *r) {
  const DiffElements *e = &r->elements;
  json_number(s, "elements", e->compared);
  json_number(s, "different_elements", e->different);
  if (!e->different) return;
  json_number(s, "first_element", e->first);
  if (diff_is_float(r->type)) json_number(s, "most_ulps", e->most_ulps);
  json_double(s, "most_absolute", e->most_absolute);
  json_double(s, "most_relative", e->most_relative);
  json_number(s, "nans", e->nans);
  json_key(s, "shown");
  str_addc(s, '[');
  for (uint32_t i = 0; i < e->nshown; i++) {
    const DiffElement *x = &e->shown[i];
    str_add(s, i ? ",{" : "{");
    json_number(s, "index", x->index);
    json_value(s, "a", x->a, r->type);
    json_value(s, "b", x->b, r->type);
    if (diff_is_float(r->type) && !diff_is_nan(x->a, r->type) && !diff_is_nan(x->b, r->type))
      json_number(s, "ulps", diff_ulps(x->a, x->b, r->type));
    str_addc(s, '}');
  }
  str_addc(s, ']');
}

void diff_result_json(const DiffResult *r, Str *s) {
  static const char *const words[] = {"equal", "within tolerance", "different", "not compared",
                                      "not hashed"};
  str_add(s, "{");
  if (r->pair.a->launch) json_number(s, "launch", r->pair.a->launch);
  if (r->pair.b->launch) json_number(s, "other_launch", r->pair.b->launch);
  if (r->pair.a->graph) json_number(s, "graph_launch", r->pair.a->graph);
  json_text(s, "kernel", r->pair.a->kernel);
  json_text(s, "launched_at", r->pair.a->place);
  json_key(s, "buffers");
  str_addc(s, '[');
  for (uint32_t i = 0; i < r->n; i++) {
    const DiffBufferResult *b = &r->buffers[i];
    Str name = {0};
    diff_buffer_name(b->a, i, &name);
    str_add(s, i ? ",{" : "{");
    json_text(s, "name", name.data);
    if (b->a->parameter) json_number(s, "parameter", b->a->parameter);
    json_text(s, "type", diff_type_name(b->type));
    json_number(s, "bytes", b->a->bytes);
    json_text(s, "outcome", words[b->outcome]);
    json_text(s, "why", b->why);
    json_text(s, "a", b->a->hash);
    if (b->b) json_text(s, "b", b->b->hash);
    if (b->has_elements) json_elements(s, b);
    str_addc(s, '}');
    str_free(&name);
  }
  str_add(s, "]}");
}

void diff_step_json(const DiffStep *step, Str *s) {
  str_add(s, "{");
  if (step->launch) json_number(s, "launch", step->launch);
  if (step->graph) json_number(s, "graph_launch", step->graph);
  json_text(s, "kernel", step->kernel);
  str_addc(s, '}');
}
