// The numbers that each block of a launch stored into a buffer: their mean, and whether a NaN or an
// infinity is among them.
#include "view/internal.h"
#include "view/numbers.h"

#include <math.h>

enum { BLOCKS_MOST = 1 << 20 };

typedef struct BlockMean {
  double sum;
  uint64_t n;
  bool odd;  // NaN or infinite
} BlockMean;
typedef struct BlockMeans {
  BlockMean *data;
  uint64_t n;
  ViewElement type;
} BlockMeans;

static void take(void *user, uint64_t block, const uint8_t *value) {
  BlockMeans *m = user;
  if (block >= m->n) return;
  double v = view_number_at(value, m->type);
  if (!isfinite(v)) m->data[block].odd = true;
  else {
    m->data[block].sum += v;
    m->data[block].n++;
  }
}

// {"means":[1.5, null, …],"odd":[3, …]}: null: the block stored no number; odd: blocks that stored
// a NaN or an infinity
static void write_means(const BlockMeans *m, Str *s) {
  str_add(s, "{");
  json_open(s, "means", '[');
  for (uint64_t i = 0; i < m->n; i++) {
    const BlockMean *b = &m->data[i];
    double mean = b->n ? b->sum / (double)b->n : NAN;
    if (i) str_addc(s, ',');
    if (isfinite(mean)) str_printf(s, "%.9g", mean);
    else str_add(s, "null");
  }
  str_add(s, "]");
  json_open(s, "odd", '[');
  for (uint64_t i = 0, n = 0; i < m->n; i++)
    if (m->data[i].odd) str_printf(s, "%s%llu", n++ ? "," : "", (unsigned long long)i);
  str_add(s, "]}");
}

void view_answer_block_values(ViewDesk *d, ViewRequest *q, ViewAnswer *a) {
  uint32_t launch = (uint32_t)view_number(q, "launch", UINT32_MAX);
  const ViewAllocation *b = view_allocation(d, (uint32_t)view_number(q, "allocation", UINT32_MAX));
  int type = view_element_type(view_text(q, "type"));
  uint64_t stride = view_number(q, "stride", 1 << 16), offset = view_number(q, "offset", 1 << 16);
  if (q->error.text[0]) return;
  uint64_t blocks = view_one(d, "SELECT grid_x * grid_y * grid_z FROM launch WHERE id = ?", "i",
                             (int64_t)launch);
  if (!d->trace || !b || !blocks || blocks > BLOCKS_MOST) {
    view_fail(a, 404, "there is no such buffer or launch, or the launch has too many blocks");
    return;
  }
  if (type == ELEMENT_TYPES || offset + view_element_bytes[type] > stride) {
    view_fail(a, 400, "the numbers of the elements do not fit together");
    return;
  }
  BlockMeans means = {mem_alloc(sizeof *means.data * blocks), blocks, (ViewElement)type};
  TraceStored what = {launch, view_element_bytes[type], b->base + offset, stride, b->size / stride};
  Error err = {{0}};
  if (!trace_stored(d->trace, &what, take, &means, &err)) view_fail(a, 404, err.text);
  else write_means(&means, &a->body);
  free(means.data);
}
