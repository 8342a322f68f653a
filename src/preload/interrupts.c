// The function that include/warpgrind_interrupts.h calls when a program defines a handler; the
// header finds it by name.
#include "interrupt/interrupt.h"

#include "../include/warpgrind.h"

__attribute__((visibility("default"))) int wg_interrupt_register(
    const wg_handler_definition_ *definition) {
  InterruptHandler h = {.name = definition->name,
                        .file = definition->file,
                        .line = definition->line,
                        .function = definition->function,
                        .user = definition->user,
                        .typed = definition->nparams != ~0u};
  if (h.typed) {
    h.result_bytes = definition->result_bytes;
    h.nparams = MIN(definition->nparams, (unsigned)INTERRUPT_PARAMS);
    memcpy(h.param_bytes, definition->param_bytes, sizeof *h.param_bytes * h.nparams);
  }
  interrupt_add_handler(&h);
  return 1;
}
