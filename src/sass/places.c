// Known values of registers: reads and writes under guards, conditions, paths that merge.
#include "sass/places.h"

// --- conditions that follow from others ---

static Condition *row_of(const Implied *i, Condition c) {
  return i->list[2 * (uint32_t)(c < 0 ? -c : c) + (c < 0)];
}

void implied_clear(Implied *i, Condition of) {
  memset(row_of(i, of), 0, MOST_IMPLIED * sizeof(Condition));
  memset(row_of(i, -of), 0, MOST_IMPLIED * sizeof(Condition));
}

static void add(Condition *row, Condition c) {
  for (unsigned k = 0; k < MOST_IMPLIED; k++) {
    if (row[k] == c) return;
    if (row[k]) continue;
    row[k] = c;
    return;
  }
}

void implied_add(Implied *i, Condition of, Condition follows) {
  if (!follows) return;
  add(row_of(i, of), follows);
  for (unsigned k = 0; k < MOST_IMPLIED; k++) {
    Condition more = row_of(i, follows)[k];
    if (more) add(row_of(i, of), more);
  }
}

bool implies(const Implied *i, Condition one, Condition other) {
  if (!one || !other) return false;
  if (one == other) return true;
  for (unsigned k = 0; k < MOST_IMPLIED; k++)
    if (row_of(i, one)[k] == other) return true;
  return false;
}

// --- places ---

Value place_read(const Place *p, Condition under, const Implied *implied) {
  return implies(implied, under, p->guarded.condition) ? p->guarded.then : p->value;
}

void place_write(Place *p, Value v, Condition under, Value held) {
  if (value_is(held, 0)) return;
  if (value_is_number(held)) {
    *p = (Place){.value = v};
  } else if (under && p->guarded.condition == -under) {
    // it was written where the condition is false, too
    *p = (Place){.value = value_join(p->guarded.then, v)};
  } else {
    p->value = value_join(p->value, v);
    p->guarded = (Guarded){under, v};
  }
}

static bool is_about(Condition c, Condition other) { return c == other || c == -other; }

void places_forget(Place *list, unsigned n, Condition c, const Implied *implied) {
  for (unsigned i = 0; i < n; i++) {
    Place *p = &list[i];
    Condition own = p->value.condition;
    if (own && (is_about(own, c) || implies(implied, own, c) || implies(implied, own, -c) ||
                implies(implied, -own, c) || implies(implied, -own, -c)))
      p->value.condition = 0;
    if (is_about(p->guarded.then.condition, c)) p->guarded.then.condition = 0;
    if (is_about(p->guarded.condition, c)) p->guarded.condition = 0;
  }
}

static bool merge_value(Value *to, Value from, bool widen) {
  Value v = value_join(*to, from);
  if (value_equals(v, *to)) return false;
  Condition c = v.condition;
  *to = widen && value_is_same(v) ? value_of(VALUE_SAME) : v;
  to->condition = c;
  return true;
}

bool places_merge(Place *to, const Place *from, unsigned n, bool widen) {
  bool changed = false;
  for (unsigned i = 0; i < n; i++) {
    changed |= merge_value(&to[i].value, from[i].value, widen);
    if (!to[i].guarded.condition) continue;
    if (to[i].guarded.condition == from[i].guarded.condition) {
      changed |= merge_value(&to[i].guarded.then, from[i].guarded.then, widen);
    } else {
      to[i].guarded.condition = 0;
      changed = true;
    }
  }
  return changed;
}
