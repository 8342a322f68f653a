// Reads how the program describes an interrupt that it calls: by a variable of the module with
// initial values (wg_interrupt_info_ of include/warpgrind_interrupts.h). Sizes have a letter in
// their upper half, which says how the value is shown.
#include "interrupt/stops.h"

enum { MAGIC = 0x77674931, LINE_AT = 4, NAME_AT = 8, FILE_AT = 16, TEXT_AT = 24 };
enum { RESULT_AT = 36, COUNT_AT = 40, SIZES_AT = 44, INFO_BYTES = SIZES_AT + 4 * INTERRUPT_PARAMS };

static uint32_t word_at(const PtxVar *v, unsigned at) {
  uint32_t w;
  memcpy(&w, v->init + at, sizeof w);
  return w;
}

static const char *text_at(const PtxVar *v, unsigned at, Arena *a) {
  for (uint32_t i = 0; i < v->nrelocs; i++) {
    const PtxReloc *r = &v->relocs[i];
    if (r->offset != at || !r->var || !r->var->init || r->addend < 0 ||
        (uint64_t)r->addend >= r->var->size)
      continue;
    return arena_strndup(
        a, (const char *)r->var->init + r->addend,
        strnlen((const char *)r->var->init + r->addend, r->var->size - (uint64_t)r->addend));
  }
  return NULL;
}

bool stops_describe(const PtxFunc *f, Arena *a, const PtxVar *v, InterruptCall *out) {
  if (!v || !v->init || v->size < INFO_BYTES || word_at(v, 0) != MAGIC) return false;
  out->name = text_at(v, NAME_AT, a);
  const char *file = text_at(v, FILE_AT, a);
  if (file && file[0]) {
    out->file = file;
    out->line = word_at(v, LINE_AT);
  }
  out->text = text_at(v, TEXT_AT, a);
  out->result_bytes = word_at(v, RESULT_AT) & 0xffff;
  out->result_shown = (char)(word_at(v, RESULT_AT) >> 16);
  out->nparams = word_at(v, COUNT_AT);
  uint32_t words = 0;
  for (uint32_t i = 0; i < out->nparams && i < INTERRUPT_PARAMS; i++) {
    out->param_bytes[i] = word_at(v, SIZES_AT + 4 * i) & 0xffff;
    out->param_shown[i] = (char)(word_at(v, SIZES_AT + 4 * i) >> 16);
    words += (out->param_bytes[i] + 3) / 4;
  }
  return out->name && out->nparams <= INTERRUPT_PARAMS && words <= INTERRUPT_WORDS &&
         out->result_bytes <= 4 * INTERRUPT_RESULT_WORDS;
}
