// The words of a block: a row's mode, which of its words are given, and those.
#include "trace/predict.h"

void values_write(ColumnCoder *c, const BlockInput *in, Bytes *out) {
  Bytes modes = {0}, masks = {0}, given = {0};
  uint32_t *table = column_coder_table(c), slots[ROW_WORDS_MAX];
  const uint32_t *before = NULL;
  uint32_t nbefore = 0;
  for (uint32_t i = 0; i < in->nrows; i++) {
    const TraceRow *r = &in->rows[i];
    const TracePlace *p = &in->places[r->place];
    const uint32_t *words = in->words + r->words;
    uint32_t n = row_words(p, r->lanes), wrong = 0;
    if (!n) continue;
    row_slots(p, r, in->addresses, slots);
    uint8_t bad[ROW_WORDS_MAX];
    for (uint32_t k = 0; k < n; k++) bad[k] = table[slots[k]] != words[k], wrong += bad[k];
    if (!wrong) {
      bytes_u8(&modes, VALUE_EXPECTED);
    } else if (n == nbefore && memcmp(before, words, (size_t)n * 4) == 0) {
      bytes_u8(&modes, VALUE_AGAIN);
    } else if (wrong <= n - n / 4) {
      bytes_u8(&modes, VALUE_SOME);
      for (uint32_t k = 0; k < n; k += 8) {
        uint8_t mask = 0;
        for (uint32_t j = 0; j < 8 && k + j < n; j++) mask |= (uint8_t)(bad[k + j] << j);
        bytes_u8(&masks, mask);
      }
      for (uint32_t k = 0; k < n; k++)
        if (bad[k]) bytes_add(&given, &words[k], 4);
    } else {
      bytes_u8(&modes, VALUE_ALL);
      bytes_add(&given, words, (size_t)n * 4);
    }
    values_seen(table, p, slots, words, n);
    before = words, nbefore = n;
  }
  column_write(c, out, modes.data, modes.len);
  column_write(c, out, masks.data, masks.len);
  column_write_words(c, out, (const uint32_t *)given.data, given.len / 4);
  bytes_free(&modes);
  bytes_free(&masks);
  bytes_free(&given);
}

bool values_read(ColumnCoder *c, Reading *from, TraceBlock *b) {
  Reading modes, masks;
  const uint32_t *given;
  size_t ngiven, at = 0;
  if (!column_read(c, from, &b->arena, b->nrows, &modes) || !column_read(c, from, &b->arena, (size_t)b->nrows * ROW_WORDS_MAX / 8, &masks) ||
      !column_read_words(c, from, &b->arena, (size_t)b->nwords * 4, &given, &ngiven)) return false;
  uint32_t *out = ARENA_ARRAY(&b->arena, uint32_t, b->nwords + 1), *table = column_coder_table(c), slots[ROW_WORDS_MAX];
  const uint32_t *before = NULL;
  uint32_t nbefore = 0;
  bool ok = true;
  for (uint32_t i = 0; i < b->nrows && ok; i++) {
    const TraceRow *r = &b->rows[i];
    const TracePlace *p = &b->places[r->place];
    uint32_t n = row_words(p, r->lanes), *words = out + r->words;
    if (!n) continue;
    row_slots(p, r, b->addresses, slots);
    uint8_t mode = reading_u8(&modes);
    if (mode == VALUE_EXPECTED) {
      for (uint32_t k = 0; k < n; k++) words[k] = table[slots[k]];
    } else if (mode == VALUE_AGAIN && nbefore == n) {
      memcpy(words, before, (size_t)n * 4);
    } else if (mode == VALUE_SOME) {
      uint8_t mask = 0;
      for (uint32_t k = 0; k < n && ok; k++) {
        if (k % 8 == 0) mask = reading_u8(&masks);
        if (!(mask >> k % 8 & 1)) words[k] = table[slots[k]];
        else if (at < ngiven) words[k] = given[at++];
        else ok = false;
      }
    } else if (mode == VALUE_ALL && ngiven - at >= n) {
      memcpy(words, given + at, (size_t)n * 4);
      at += n;
    } else {
      ok = false;
    }
    values_seen(table, p, slots, words, n);
    before = words, nbefore = n;
  }
  if (!ok || modes.bad || masks.bad) return false;
  b->words = out;
  b->bytes += (size_t)b->nwords * 4;
  return true;
}
