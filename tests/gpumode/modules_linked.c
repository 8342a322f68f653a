// Code that is linked, with checks in it: its probes are a unit of their own, with as many
// registers as the kernel with the fewest may have. And what the compiler says when it refuses
// something. modules_linked FOLDER TOOL LOG FILE.ptx…: writes the units as they go to the driver,
// with the limits that follow from the log, if there is one; each file's name ends with the limit
// on its registers, or 0.
#include "gpu/modules/modules.h"

#include "ir/ir.h"

static int failures;
#define EXPECT(what, yes) \
  do { \
    bool ok_ = (yes); \
    printf("%s %s\n", ok_ ? "ok" : "FAIL", what); \
    failures += !ok_; \
  } while (0)

static void say_refused(void) {
  const char *kernels[] = {"_Z5tightPfi", "_Z5loosePfi"};
  const char *log =
      "ptxas error   : Entry function '_Z5tightPfi' with max regcount of 32 calls function "
      "'__wg_wg_memcheck' with regcount of 70\n"
      "nvlink error   : entry function '_Z5tightPfi' with max regcount of 32 calls function "
      "'_Z1gf' with regcount of 35\n";
  static const char callee[] = ".version 8.0\n.target sm_90\n.address_size 64\n"
                               ".visible .func _Z1gf() { ret; }\n";
  Error err = {{0}};
  PtxModule *unit = ptx_parse(callee, strlen(callee), "callee.ptx", &err);
  unsigned registers[2] = {0, 40};
  EXPECT("limits: found", gpu_limit_callees(log, &unit, 1, "__wg_wg_", registers));
  EXPECT("limits: of the program's function", registers[0] == 32);
  EXPECT("limits: of the probes", registers[1] == 32);
  EXPECT("limits: not twice", !gpu_limit_callees(log, &unit, 1, "__wg_wg_", registers));
  EXPECT("limits: not in other messages",
         !gpu_limit_callees("ptxas fatal   : Ptx assembly aborted due to errors", &unit, 1,
                            "__wg_wg_", registers));
  GpuRefused r = {0};
  EXPECT("refused: named", gpu_refused_add(&r, log, kernels, 2) && r.kernels.len == 1);
  EXPECT("refused: with the reason",
         gpu_refused_reason(&r, "_Z5tightPfi") &&
             strstr(gpu_refused_reason(&r, "_Z5tightPfi"), "checks: Entry function"));
  EXPECT("refused: not the others", !gpu_refused_reason(&r, "_Z5loosePfi"));
  EXPECT("refused: once", !gpu_refused_add(&r, log, kernels, 2));
  EXPECT("refused: a name that is cut off",
         !gpu_refused_add(&r, "ptxas error : Entry function '_Z5loo", kernels, 2));
  gpu_refused_free(&r);
  ptx_free(unit);
}

static bool write_units(const char *folder, const char *tool, const char *log_file, char **files,
                        uint32_t n) {
  Error err = {{0}};
  WeavePlan plan = {.spare_registers = true};
  PtxModule *units[8];
  Woven made;
  unsigned registers[9] = {0};
  if (!tools_parse(tool, &plan.tools, &err)) return false;
  for (uint32_t i = 0; i < n; i++) {
    Str text = {0};
    if (!file_read(files[i], &text, &err)) return false;
    units[i] = ptx_parse(text.data, text.len, files[i], &err);
    if (!units[i] || !ptx_verify(units[i], &err) || !ir_contract_for(units[i], 90, NULL, &err))
      return false;
    str_free(&text);
  }
  if (!weave_module(units, n, &plan, &made, &err)) return false;
  GpuTexts t = {0};
  Str log = {0};
  gpu_probe_unit_limits(units, n, registers);
  if (file_read(log_file, &log, &err))
    gpu_limit_callees(log.data, units, n, made.probe_prefix, registers);
  str_free(&log);
  gpu_probe_unit_print(units, n, made.probe_prefix, registers, &t);
  for (uint32_t i = 0; i < t.units.len; i++) {
    char path[4096];
    snprintf(path, sizeof path, "%s/%u.%u.ptx", folder, i, t.registers.data[i]);
    FILE *f = fopen(path, "w");
    if (!f) return false;
    fwrite(t.units.data[i].data, 1, t.units.data[i].len, f);
    fclose(f);
  }
  return true;
}

int main(int argc, char **argv) {
  if (argc > 4) return !write_units(argv[1], argv[2], argv[3], argv + 4, (uint32_t)argc - 4);
  say_refused();
  return failures > 0;
}
