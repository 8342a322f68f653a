// Copies and sets: steps of the host. Rows of a copy are `width` bytes; there are `height` of them,
// `pitch` apart, in each of `depth` slices of `rows` rows.
#include "trace/reader.h"

bool step_touches(const ReaderStep *s, bool reads, uint64_t low, uint64_t high, uint64_t *address,
                  uint64_t *bytes) {
  if ((s->kind != STEP_COPY && s->kind != STEP_SET) || (reads && s->kind == STEP_SET)) return false;
  uint64_t base = reads ? s->source : s->destination, pitch = reads ? s->from_pitch : s->to_pitch,
           rows = reads ? s->from_rows : s->to_rows;
  uint64_t height = MAX(s->height, 1ull), depth = MAX(s->depth, 1ull), width = s->width;
  if (!base || !width || base >= high) return false;
  if (!pitch || (height == 1 && depth == 1)) pitch = width;
  if (!rows) rows = height;
  // Rows are at base + (z * rows + y) * pitch: finds the first one that ends after low.
  uint64_t line = low > base ? (low - base) / pitch : 0;
  if (low > base && low - base - line * pitch >= width) line++;
  uint64_t z = line / rows, y = line % rows;
  if (y >= height) {
    z++;
    y = 0;
  }
  if (z >= depth) return false;
  uint64_t at = base + (z * rows + y) * pitch, from = MAX(at, low), to = MIN(at + width, high);
  if (from >= to) return false;
  *address = from;
  *bytes = to - from;
  return true;
}

bool reader_host_op(TraceReader *t, const ReaderStep *s, uint32_t lane, HostRange at, TraceOp *out,
                    Error *err) {
  *out = (TraceOp){.record = s->first_record,
                   .lane = lane,
                   .kind = s->kind == STEP_SET ? TRACE_SET : TRACE_COPY,
                   .step = s->id,
                   .bytes = (uint32_t)MIN(at.bytes, (uint64_t)UINT32_MAX),
                   .address = at.address,
                   .has_address = true};
  uint8_t known[16];
  uint64_t n = MIN(at.bytes, (uint64_t)sizeof known);
  uint32_t index = (uint32_t)(s - t->steps);
  Replay after = {.process = s->process,
                  .steps = index + 1,
                  .address = at.address,
                  .bytes = n,
                  .died = UINT64_MAX};
  if (!reader_replay(t, &after, out->value, known, err)) return false;
  out->value_known = true;
  for (uint64_t i = 0; i < n; i++) out->value_known &= known[i] == 1;
  if (!out->value_known) memset(out->value, 0, sizeof out->value);
  return true;
}
