// Fuzz target: the PTX parser, verifier, printer and control-flow analysis.
// What parses and verifies must print to something that parses and verifies again.
// seeds: examples/*/ptx/*.ptx tests/*/*.ptx
#include "ir/ir.h"
#include "ptx/ptx.h"

static bool analyse(PtxModule *m, Error *err) {
  for (uint32_t i = 0; i < m->nfuncs; i++) {
    if (m->funcs[i]->is_declaration) continue;
    IrCfg *cfg = ir_cfg_build(m->funcs[i], err);
    if (!cfg) return false;
    CHECK(ir_verify(cfg, err));
    IrLiveness *live = ir_liveness_build(cfg);
    ir_liveness_free(live);
    ir_cfg_free(cfg);
  }
  return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  Error err = {0};
  PtxModule *m = ptx_parse((const char *)data, size, "input", &err);
  if (!m) {
    CHECK(err.text[0]);                        // every refusal says why
    return 0;
  }
  if (ptx_verify(m, &err) && analyse(m, &err)) {
    Str text = {0};
    ptx_print(m, &text);
    PtxModule *again = ptx_parse(text.data, text.len, "printed", &err);
    if (!again || !ptx_verify(again, &err)) {
      fprintf(stderr, "printed PTX is refused: %s\n%s\n", err.text, text.data);
      abort();
    }
    ptx_free(again);
    str_free(&text);
  }
  ptx_free(m);
  return 0;
}
