// --record: handlers of interrupts that were called, as steps. Results are a copy to the device, so
// that values which a kernel uses later can be traced back to the handler; callers, arguments and
// results are kept next to it.
#include "tools/record/host.h"

#include "../include/warpgrind.h"

enum { CALLERS_MOST = 4096, VALUE_WORDS = 16 };

// Values of one caller, each in words of its own.
static uint32_t put_value(const void *values, uint32_t bytes, size_t i, uint64_t *words) {
  uint32_t n = (bytes + 7) / 8;
  words[n - 1] = 0;
  memcpy(words, (const char *)values + i * bytes, bytes);
  return n;
}

static void send_callers(const SessionInterrupt *s, uint32_t step) {
  for (size_t i = 0; i < MIN(s->count, (size_t)CALLERS_MOST); i++) {
    uint64_t arguments[64], result[VALUE_WORDS];
    uint32_t n = 0, results = 0;
    for (uint32_t p = 0; p < s->nparams; p++)
      if (s->param_bytes[p] && n + (s->param_bytes[p] + 7) / 8 <= ARRAY_LEN(arguments))
        n += put_value(s->params[p], s->param_bytes[p], i, arguments + n);
    if (s->result_bytes && s->results && s->result_bytes <= sizeof result)
      results = put_value(s->results, s->result_bytes, i, result);
    const wg_caller *c = &s->callers[i];
    session_send(EVENT_INTERRUPT_CALLER, &(EventInterruptCaller){.step = step,
                                                                 .number = i,
                                                                 .thread = c->index,
                                                                 .line = (uint64_t)c->line,
                                                                 .file = c->file ? c->file : "",
                                                                 .arguments = arguments,
                                                                 .arguments_count = n,
                                                                 .result = result,
                                                                 .result_count = results});
  }
}

// As in wg_interrupt_info_.
static uint64_t with_letter(uint32_t bytes, char shown) {
  return bytes | (uint64_t)(unsigned char)shown << 16;
}

void record_interrupt_served(const SessionInterrupt *i) {
  if (!record_options.operations) return;
  size_t bytes = i->results_at ? i->count * i->result_bytes : 0;
  uint32_t step = record_new_step();
  uint64_t sizes[32];
  uint32_t n = MIN(i->nparams, (uint32_t)ARRAY_LEN(sizes));
  char call[160];
  for (uint32_t p = 0; p < n; p++) sizes[p] = with_letter(i->param_bytes[p], i->param_shown[p]);
  snprintf(call, sizeof call, "interrupt %.128s", i->name);
  record_order_step(step, i->stream, (StepHow){.host_knows = true});
  session_send(EVENT_INTERRUPT,
               &(EventInterrupt){.step = step,
                                 .launch = i->launch,
                                 .callers = i->count,
                                 .result_bytes = with_letter(i->result_bytes, i->result_shown),
                                 .param_bytes = sizes,
                                 .param_bytes_count = n});
  send_callers(i, step);
  session_send(EVENT_STEP, &(EventStep){.number = step,
                                        .kind = STEP_COPY,
                                        .recorded = 1,
                                        .stream = (uintptr_t)i->stream,
                                        .device = (uint64_t)i->device,
                                        .time_ns = clock_ns(),
                                        .call = call,
                                        .direction = STEP_TO_DEVICE,
                                        .to = i->results_at,
                                        .from = (uintptr_t)i->results,
                                        .width = bytes,
                                        .height = 1,
                                        .depth = 1,
                                        .to_pitch = bytes,
                                        .to_rows = 1,
                                        .from_pitch = bytes,
                                        .from_rows = 1});
  if (bytes) channel_contents(step, i->results_at, i->results, bytes);
}
