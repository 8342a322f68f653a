// A buffer as numbers for pixels. Each pixel stands for pool_x elements of pool_y rows and gives
// their smallest and largest, so that a single odd element is visible however small the picture is.
#include "view/internal.h"
#include "view/numbers.h"

#include <math.h>

enum { CONTENTS_MOST = 4 << 20, PIXELS_MOST = 4 << 20, SLICE = 1 << 20 };

static const ViewAllocation *buffer(ViewDesk *d, ViewRequest *q, ViewAnswer *a) {
  const ViewAllocation *b = view_allocation(d, (uint32_t)view_number(q, "allocation", UINT32_MAX));
  if (q->error.text[0]) return NULL;
  if (!d->trace) view_fail(a, 404, "nothing was recorded in this run");
  else if (!b) view_fail(a, 404, "there is no such buffer");
  return d->trace ? b : NULL;
}

void view_answer_contents(ViewDesk *d, ViewRequest *q, ViewAnswer *a) {
  uint32_t step = (uint32_t)view_number_or(q, "step", 0, UINT32_MAX);
  uint64_t offset = view_number_or(q, "offset", 0, UINT64_MAX),
           bytes = view_number(q, "bytes", CONTENTS_MOST);
  const ViewAllocation *b = buffer(d, q, a);
  if (!b) return;
  if (offset >= b->size || bytes > b->size - offset) {
    view_fail(a, 400, "that is outside of the buffer");
    return;
  }
  uint8_t *value = mem_alloc(bytes + 1), *known = mem_alloc(bytes + 1);
  Error err = {{0}};
  if (!trace_contents(d->trace, &(TraceSlice){b->id, step, offset, bytes}, value, known, &err))
    view_fail(a, 500, err.text);
  else {
    a->type = "application/octet-stream";
    str_addn(&a->body, (char *)value, bytes);
    str_addn(&a->body, (char *)known, bytes);
  }
  free(value);
  free(known);
}

// Bits of a pixel's flags: something in it is …
enum {
  HAS_NUMBER = 1,
  HAS_NAN = 2,
  HAS_PLUS_INF = 4,
  HAS_MINUS_INF = 8,
  HAS_UNWRITTEN = 16,
  HAS_UNRECORDED = 32,
  HAS_NOTHING = 64
};
typedef struct Pixel {
  double low, high, sum;
  uint32_t n;
  uint8_t flags;
} Pixel;

static void add(Pixel *p, const uint8_t *value, const uint8_t *known, ViewElement t) {
  bool unwritten = false, unrecorded = false;
  for (unsigned i = 0; i < view_element_bytes[t]; i++) {
    unwritten |= known[i] == 0;
    unrecorded |= known[i] > 1;
  }
  if (unwritten || unrecorded) {
    p->flags |= unwritten ? HAS_UNWRITTEN : HAS_UNRECORDED;
    return;
  }
  double v = view_number_at(value, t);
  if (isnan(v)) p->flags |= HAS_NAN;
  else if (isinf(v)) p->flags |= v > 0 ? HAS_PLUS_INF : HAS_MINUS_INF;
  else {
    if (!(p->flags & HAS_NUMBER) || v < p->low) p->low = v;
    if (!(p->flags & HAS_NUMBER) || v > p->high) p->high = v;
    p->sum += v;
    p->n++;
    p->flags |= HAS_NUMBER;
  }
}

// For pictures of the last write: adds the latest step that wrote to the element.
static void add_writer(Pixel *p, const uint32_t *writer, const uint8_t *known, unsigned bytes) {
  uint32_t last = 0;
  bool outside = false;
  for (unsigned i = 0; i < bytes; i++) {
    last = MAX(last, writer[i]);
    outside |= known[i] > 1;
  }
  if (!last) {
    p->flags |= outside ? HAS_UNRECORDED : HAS_UNWRITTEN;
    return;
  }
  if (!(p->flags & HAS_NUMBER) || last < p->low) p->low = last;
  if (!(p->flags & HAS_NUMBER) || last > p->high) p->high = last;
  p->sum += last;
  p->n++;
  p->flags |= HAS_NUMBER;
}

// A part of a buffer, as values or as the steps that wrote it last.
typedef struct Part {
  uint8_t *value, *known;
  uint32_t *writer;  // NULL: values
} Part;
static Part part_new(uint64_t bytes, bool written) {
  return (Part){written ? NULL : mem_alloc(bytes + 1), mem_alloc(bytes + 1),
                written ? mem_alloc(sizeof(uint32_t) * (bytes + 1)) : NULL};
}
static void part_free(Part *p) {
  free(p->value);
  free(p->known);
  free(p->writer);
}
static bool part_read(ViewDesk *d, const TraceSlice *of, Part *p, Error *err) {
  return p->writer ? trace_last_writers(d->trace, of, p->writer, p->known, err)
                   : trace_contents(d->trace, of, p->value, p->known, err);
}
static void part_add(Pixel *to, const Part *p, uint64_t at, ViewElement t) {
  if (p->writer) add_writer(to, p->writer + at, p->known + at, view_element_bytes[t]);
  else add(to, p->value + at, p->known + at, t);
}
// Does the request ask for a picture of last writes?
static bool of_writes(ViewRequest *q) {
  const char *of = view_text(q, "of");
  return of && !strcmp(of, "writes");
}

// The answer: two 32-bit numbers (columns, rows), two doubles (smallest and largest of all), then
// for each pixel a float (smallest), for each a float (largest), for each a float (mean), for each
// a byte (flags).
static void write_pixels(const Pixel *pixels, uint64_t nx, uint64_t ny, ViewAnswer *a) {
  double low = NAN, high = NAN;
  uint32_t size[2] = {(uint32_t)nx, (uint32_t)ny};
  for (uint64_t i = 0; i < nx * ny; i++) {
    if (!(pixels[i].flags & HAS_NUMBER)) continue;
    if (!(pixels[i].low >= low)) low = pixels[i].low;
    if (!(pixels[i].high <= high)) high = pixels[i].high;
  }
  a->type = "application/octet-stream";
  str_addn(&a->body, (char *)size, 8);
  str_addn(&a->body, (char *)&low, 8);
  str_addn(&a->body, (char *)&high, 8);
  uint64_t n = nx * ny;
  float *all = mem_alloc(n * (3 * sizeof *all + 1)), *low_of = all, *high_of = all + n,
        *mean_of = all + 2 * n;
  uint8_t *flags = (uint8_t *)(all + 3 * n);
  for (uint64_t i = 0; i < n; i++) {
    const Pixel *p = &pixels[i];
    low_of[i] = (float)p->low;
    high_of[i] = (float)p->high;
    mean_of[i] = (float)(p->n ? p->sum / p->n : 0);
    flags[i] = p->flags ? p->flags : HAS_NOTHING;
  }
  str_addn(&a->body, (char *)all, n * (3 * sizeof *all + 1));
  free(all);
}

static unsigned element_bytes(int type) {
  return type < ELEMENT_TYPES ? view_element_bytes[type] : 1;
}

void view_answer_picture(ViewDesk *d, ViewRequest *q, ViewAnswer *a) {
  int type = view_element_type(view_text(q, "type"));
  uint64_t stride = view_number_or(q, "stride", element_bytes(type), 1 << 16),
           offset = view_number_or(q, "offset", 0, 1 << 16);
  uint64_t width = view_number(q, "width", 1 << 24), rows = view_number(q, "rows", 1 << 24),
           first = view_number_or(q, "first", 0, UINT32_MAX);
  uint64_t pool_x = view_number_or(q, "pool_x", 1, 1 << 24),
           pool_y = view_number_or(q, "pool_y", 1, 1 << 24);
  uint32_t step = (uint32_t)view_number_or(q, "step", 0, UINT32_MAX);
  const ViewAllocation *b = buffer(d, q, a);
  if (!b) return;
  if (type == ELEMENT_TYPES) {
    view_fail(a, 400, "type: there is no such type");
    return;
  }
  if (!width || !rows || !pool_x || !pool_y || offset + view_element_bytes[type] > stride) {
    view_fail(a, 400, "the numbers of the picture do not fit together");
    return;
  }
  uint64_t nx = (width + pool_x - 1) / pool_x, ny = (rows + pool_y - 1) / pool_y;
  if (nx * ny > PIXELS_MOST) {
    view_fail(a, 400, "the picture is too large");
    return;
  }
  uint64_t begin = first * stride,
           end = MIN(b->size / stride * stride, begin + width * rows * stride);
  Pixel *pixels = mem_alloc(nx * ny * sizeof *pixels);
  Part part = part_new(SLICE, of_writes(q));
  uint64_t slice = SLICE / stride * stride;
  Error err = {{0}};
  bool ok = true;
  for (uint64_t at = begin; ok && at < end; at += slice) {
    uint64_t n = MIN(slice, end - at);
    ok = part_read(d, &(TraceSlice){b->id, step, at, n}, &part, &err);
    for (uint64_t i = 0; ok && i < n; i += stride) {
      uint64_t element = (at - begin + i) / stride, x = element % width / pool_x,
               y = element / width / pool_y;
      part_add(&pixels[y * nx + x], &part, i + offset, (ViewElement)type);
    }
  }
  if (!ok) view_fail(a, 500, err.text);
  else write_pixels(pixels, nx, ny, a);
  free(pixels);
  part_free(&part);
}

// The elements of one pixel that make it look as it does: {"low":index,"high":index,"nan":index …},
// each the first of its kind; kinds that it lacks are left out.
void view_answer_pixel(ViewDesk *d, ViewRequest *q, ViewAnswer *a) {
  enum { ELEMENTS_MOST = 16 << 20 };
  static const struct {
    uint8_t flag;
    const char *name;
  } kinds[] = {{HAS_NAN, "nan"},
               {HAS_PLUS_INF, "plus"},
               {HAS_MINUS_INF, "minus"},
               {HAS_UNWRITTEN, "unwritten"},
               {HAS_UNRECORDED, "unrecorded"}};
  int type = view_element_type(view_text(q, "type"));
  uint64_t stride = view_number_or(q, "stride", element_bytes(type), 1 << 16),
           offset = view_number_or(q, "offset", 0, 1 << 16),
           width = view_number(q, "width", 1 << 24);
  uint64_t pool_x = view_number_or(q, "pool_x", 1, 1 << 24),
           pool_y = view_number_or(q, "pool_y", 1, 1 << 24), x = view_number(q, "x", 1 << 24),
           y = view_number(q, "y", 1 << 24);
  uint32_t step = (uint32_t)view_number_or(q, "step", 0, UINT32_MAX);
  const ViewAllocation *b = buffer(d, q, a);
  if (!b) return;
  if (type == ELEMENT_TYPES) {
    view_fail(a, 400, "type: there is no such type");
    return;
  }
  if (!width || !pool_x || !pool_y || offset + view_element_bytes[type] > stride ||
      x * pool_x >= width || pool_x * pool_y > ELEMENTS_MOST) {
    view_fail(a, 400, "the numbers of the picture do not fit together");
    return;
  }
  uint64_t count = b->size / stride, columns = MIN(pool_x, width - x * pool_x), low = 0, high = 0,
           found[ARRAY_LEN(kinds)] = {0};
  Part part = part_new(columns * stride, of_writes(q));
  Pixel all = {0};
  Error err = {{0}};
  bool ok = true;
  for (uint64_t row = y * pool_y; ok && row < (y + 1) * pool_y && row * width + x * pool_x < count;
       row++) {
    uint64_t first = row * width + x * pool_x, n = MIN(columns, count - first);
    ok = part_read(d, &(TraceSlice){b->id, step, first * stride, n * stride}, &part, &err);
    for (uint64_t i = 0; ok && i < n; i++) {
      Pixel one = {0};
      part_add(&one, &part, i * stride + offset, (ViewElement)type);
      if (one.flags & HAS_NUMBER) {
        if (!(all.flags & HAS_NUMBER) || one.low < all.low) {
          all.low = one.low;
          low = first + i;
        }
        if (!(all.flags & HAS_NUMBER) || one.high > all.high) {
          all.high = one.high;
          high = first + i;
        }
      }
      for (size_t k = 0; k < ARRAY_LEN(kinds); k++)
        if (one.flags & kinds[k].flag && !(all.flags & kinds[k].flag)) found[k] = first + i;
      all.flags |= one.flags;
    }
  }
  if (!ok) view_fail(a, 500, err.text);
  else {
    str_add(&a->body, "{");
    if (all.flags & HAS_NUMBER) {
      json_number(&a->body, "low", low);
      json_number(&a->body, "high", high);
    }
    for (size_t k = 0; k < ARRAY_LEN(kinds); k++)
      if (all.flags & kinds[k].flag) json_number(&a->body, kinds[k].name, found[k]);
    str_add(&a->body, "}");
  }
  part_free(&part);
}

// --- wg_watch: a dot for each thread ---

// "mov.f32 wg_watch_f32, %f1;"; a register that occurs again has a number after its name.
static const char *watched_type(const char *text) {
  static const char *const names[][2] = {{"f32", "f32"}, {"f64", "f64"}, {"s32", "i32"},
                                         {"u32", "u32"}, {"s64", "i64"}, {"u64", "u64"},
                                         {"b32", "u32"}, {"b64", "u64"}};
  const char *at = text ? strstr(text, "wg_watch_") : NULL;
  at = at ? at + 9 : text && strstr(text, "wg_record_") ? strstr(text, "wg_record_") + 10 : NULL;
  for (size_t i = 0; at && i < ARRAY_LEN(names); i++)
    if (!strncmp(at, names[i][0], 3)) return names[i][1];
  return NULL;
}

void view_answer_watches(ViewDesk *d, ViewRequest *q, ViewAnswer *a) {
  enum { SITES = 200, LAUNCHES = 2000 };
  Str *s = &a->body;
  str_add(s, "{");
  json_open(s, "watches", '[');
  ViewRows r = view_rows(d,
                         "SELECT s.id, s.text, p.file, p.line, k.id, s.function FROM site s LEFT "
                         "JOIN place p ON p.site = s.id AND p.depth = (SELECT min(depth) FROM "
                         "place o WHERE o.site = s.id AND o.file NOT LIKE '%/warpgrind.h') LEFT "
                         "JOIN kernel k ON k.name = s.function AND k.process = s.process "
                         "WHERE (s.text LIKE '%wg\\_watch\\_%' ESCAPE '\\' OR s.text LIKE "
                         "'%wg\\_record\\_%' ESCAPE '\\') AND s.text NOT LIKE '%record\\_begin%' "
                         "ESCAPE '\\' AND s.text NOT LIKE '%record\\_end%' ESCAPE '\\' "
                         "GROUP BY s.id LIMIT ?",
                         "i", (int64_t)SITES);
  while (view_next(&r)) {
    const char *type = watched_type(view_column_text(&r, 1)), *file = view_column_text(&r, 2);
    if (!type) continue;
    json_open(s, NULL, '{');
    json_number(s, "site", view_column(&r, 0));
    json_text(s, "type", type);
    json_key(s, "watched");
    str_add(s, strstr(view_column_text(&r, 1), "wg_watch_") ? "true" : "false");
    json_text(s, "path", file);
    str_printf(s, ",\"file\":%d", file ? view_file_number(d, file) : -1);
    json_number(s, "line", view_column(&r, 3));
    json_text(s, "function", view_column_text(&r, 5));
    json_open(s, "launches", '[');
    // Those that were recorded, the newest first; of a function that kernels call, all.
    ViewRows l = view_rows(
        d,
        "SELECT l.id, l.number, l.grid_x * l.grid_y * l.grid_z * l.block_x * l.block_y * l.block_z "
        "FROM launch l WHERE (?1 = 0 OR l.kernel = ?1) AND "
        "l.number & 16777215 IN (SELECT launch FROM trace_chunk WHERE process = l.process) ORDER "
        "BY l.id DESC LIMIT ?2",
        "ii", (int64_t)view_column(&r, 4), (int64_t)LAUNCHES);
    for (bool first = true; view_next(&l); first = false)
      str_printf(s, "%s[%llu,%llu,%llu]", first ? "" : ",", (unsigned long long)view_column(&l, 0),
                 (unsigned long long)view_column(&l, 1), (unsigned long long)view_column(&l, 2));
    view_rows_end(&l);
    str_add(s, "]}");
  }
  str_add(s, "]}");
  view_rows_ok(&r, a);
}

// The last value that each thread passed to wg_watch.
typedef struct Watched {
  uint8_t *value, *known;
  uint64_t threads;
  unsigned bytes;
} Watched;
static void take_value(void *user, uint64_t thread, const uint8_t *value) {
  Watched *w = user;
  if (thread >= w->threads) return;
  memcpy(w->value + thread * w->bytes, value, w->bytes);
  w->known[thread] = 1;
}

// The place of a thread's dot: in rows of `width` threads, or, with layout 1, at its place in the
// grid, slices of z below each other.
typedef struct Layout {
  uint64_t grid[3], block[3], width, rows;
  bool by_place;
} Layout;

static bool read_layout(ViewDesk *d, uint32_t launch, uint64_t width, bool by_place, Layout *out) {
  ViewRows r = view_rows(
      d, "SELECT grid_x, grid_y, grid_z, block_x, block_y, block_z FROM launch WHERE id = ?", "i",
      (int64_t)launch);
  *out = (Layout){.by_place = by_place};
  bool found = view_next(&r);
  uint64_t threads = 1;
  for (int i = 0; found && i < 3; i++) {
    out->grid[i] = view_column(&r, i);
    out->block[i] = view_column(&r, i + 3);
    threads *= out->grid[i] * out->block[i];
  }
  view_rows_end(&r);
  if (!found || !threads) return false;
  out->width = by_place ? out->grid[0] * out->block[0] : width;
  out->rows = out->width ? (threads + out->width - 1) / out->width : 0;
  return true;
}

static void place_of(const Layout *l, uint64_t thread, uint64_t *x, uint64_t *y) {
  if (!l->by_place) {
    *x = thread % l->width;
    *y = thread / l->width;
    return;
  }
  uint64_t per = l->block[0] * l->block[1] * l->block[2], b = thread / per, t = thread % per;
  uint64_t at_y = b / l->grid[0] % l->grid[1] * l->block[1] + t / l->block[0] % l->block[1],
           at_z = b / l->grid[0] / l->grid[1] * l->block[2] + t / l->block[0] / l->block[1];
  *x = b % l->grid[0] * l->block[0] + t % l->block[0];
  *y = at_z * l->grid[1] * l->block[1] + at_y;
}

static void write_watched(const Watched *w, const Layout *l, ViewElement type, uint64_t pool,
                          ViewAnswer *a) {
  static const uint8_t known[8] = {1, 1, 1, 1, 1, 1, 1, 1};
  uint64_t nx = (l->width + pool - 1) / pool, ny = (l->rows + pool - 1) / pool;
  Pixel *pixels = mem_alloc(nx * ny * sizeof *pixels);
  for (uint64_t i = 0; i < w->threads; i++) {
    uint64_t x, y;
    place_of(l, i, &x, &y);
    if (w->known[i]) add(&pixels[y / pool * nx + x / pool], w->value + i * w->bytes, known, type);
  }
  write_pixels(pixels, nx, ny, a);
  free(pixels);
}

void view_answer_watch(ViewDesk *d, ViewRequest *q, ViewAnswer *a) {
  enum { THREADS_MOST = 64 << 20 };
  uint32_t launch = (uint32_t)view_number(q, "launch", UINT32_MAX),
           site = (uint32_t)view_number(q, "site", UINT32_MAX);
  uint64_t width = view_number(q, "width", 1 << 24), pool = view_number_or(q, "pool", 1, 1 << 24);
  uint64_t thread = view_number_or(q, "thread", UINT64_MAX, UINT64_MAX);
  bool by_place = view_number_or(q, "layout", 0, 1) == 1;
  int type = view_element_type(view_text(q, "type"));
  if (q->error.text[0]) return;
  if (!d->trace) {
    view_fail(a, 404, "nothing was recorded in this run");
    return;
  }
  if (type == ELEMENT_TYPES) {
    view_fail(a, 400, "type: there is no such type");
    return;
  }
  Layout layout;
  if (!read_layout(d, launch, width, by_place, &layout)) {
    view_fail(a, 404, "there is no such launch");
    return;
  }
  Watched w = {.bytes = view_element_bytes[type], .threads = 1};
  for (int i = 0; i < 3; i++) w.threads *= layout.grid[i] * layout.block[i];
  if (w.threads > THREADS_MOST) {
    view_fail(a, 400, "the launch has too many threads for a picture");
    return;
  }
  if (!layout.width || !pool ||
      (layout.width / pool + 1) * (layout.rows / pool + 1) > PIXELS_MOST) {
    view_fail(a, 400, "the numbers of the picture do not fit together");
    return;
  }
  w.value = mem_alloc(w.threads * w.bytes);
  w.known = mem_alloc(w.threads);
  Error err = {{0}};
  if (!trace_values_of(d->trace, launch, site, take_value, &w, &err)) view_fail(a, 500, err.text);
  else if (thread < w.threads) {  // one value alone, as text
    Str *s = &a->body;
    str_add(s, "{");
    if (w.known[thread]) {
      char text[64];
      view_number_text(w.value + thread * w.bytes, (ViewElement)type, text, sizeof text);
      json_text(s, "value", text);
    }
    str_add(s, "}");
  } else write_watched(&w, &layout, (ViewElement)type, pool, a);
  free(w.value);
  free(w.known);
}
