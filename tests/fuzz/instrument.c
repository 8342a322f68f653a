// Fuzz target: what parses and verifies can be instrumented or is refused with a reason, and the
// result is PTX again.
// seeds: tests/ptx/golden/*.ptx tests/count/*.ptx tests/vgpu/ptx/*.ptx examples/*/ptx/*.ptx
#include "weave/weave.h"
#include "ir/ir.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  Error err = {""};
  PtxModule *m = ptx_parse((const char *)data, size, "fuzz", &err);
  if (!m || !ptx_verify(m, &err) || !ir_contract(m, &err)) {
    ptx_free(m);
    return 0;
  }
  WeavePlan plan = {.tools = TOOL_BIT(COUNT)};
  Woven r;
  err.text[0] = 0;
  if (weave_module(&m, 1, &plan, &r, &err)) {
    Str out = {0};
    ptx_print(m, &out);
    PtxModule *again = ptx_parse(out.data, out.len, "again", &err);
    if (!again || !ptx_verify(again, &err)) fprintf(stderr, "%s\n%s\n", err.text, out.data);
    CHECK(again && ptx_verify(again, &err));
    for (uint32_t i = 0; i < r.nkernels; i++)
      CHECK(r.kernels[i].instrumented || r.kernels[i].reason);
    ptx_free(again);
    str_free(&out);
    weave_free(&r);
  } else {
    CHECK(err.text[0]);
  }
  ptx_free(m);
  return 0;
}
