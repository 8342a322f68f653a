// warpgrind ptx: parses, verifies and prints PTX text, or the PTX inside of a program, a library or
// a fatbin. --tool prints what runs under that tool.
#include "cli/cli.h"
#include "cli/ptx_dump.h"
#include "image/image.h"
#include "interrupt/interrupt.h"
#include "weave/weave.h"
#include "ir/ir.h"
#include "ptx/ptx.h"

typedef struct PtxJob {
  bool check, rename, contract, interrupts;
  unsigned tools;
  const char *dump;  // stages separated by commas, or NULL
} PtxJob;

// Weaves the tools in as for a GPU, with the options of the environment.
static bool instrument(PtxModule *m, unsigned tools, Error *err) {
  WeavePlan plan = {.tools = tools, .spare_registers = true};
  Options o = {0};
  Woven result;
  if (!options_from_environment(&o, err)) return false;
  weave_set_options(&plan, &o);
  if (!weave_module(&m, 1, &plan, &result, err)) return false;
  for (uint32_t i = 0; i < result.nkernels; i++)
    if (!result.kernels[i].instrumented)
      fprintf(stderr, "%s: kernel %s is left as it is: %s\n", m->name, result.kernels[i].name,
              result.kernels[i].reason);
  weave_free(&result);
  return true;
}

// Prints the memory that a launch will need.
static void print_memory(const InterruptKernel *k, Str *out) {
  InterruptMemory m = interrupt_memory(k);
  str_printf(out,
             "// kernel %s: %u bytes of memory for each caller (%u live and arguments, %u for its "
             "place)",
             k->name, m.caller, k->context_bytes, m.caller - k->context_bytes);
  if (m.thread) str_printf(out, ", %u for each thread (local variables)", m.thread);
  if (k->saves_blocks)
    str_printf(out, ", %u for each block with callers, besides dynamic shared memory", m.stopped);
  str_add(out, "\n");
}

// A kernel that cannot be suspended stays as it is.
static bool split_kernels(PtxModule *m, bool in_line, Str *out, Error *err) {
  Interrupts result = {.in_line = in_line, .listed = in_line};
  if (!interrupt_pass(&m, 1, &result, err)) return false;
  for (uint32_t i = 0; i < result.n; i++) {
    if (result.kernels[i].refused) fprintf(stderr, "%s\n", result.kernels[i].refused);
    else print_memory(&result.kernels[i], out);
  }
  interrupt_free(&result);
  return true;
}

static bool transform(PtxModule *m, const PtxJob *job, Str *out, Error *err) {
  if (!ptx_verify(m, err)) return false;
  if (job->contract && !ir_contract(m, err)) return false;
  if (job->interrupts && !split_kernels(m, !job->tools, out, err)) return false;
  if (job->tools && !instrument(m, job->tools, err)) return false;
  if (job->rename) ptx_rename_all(m);
  if (job->rename && !ptx_verify(m, err)) return false;
  if (job->dump) return cli_dump_module(m, job->dump, out, err);
  if (!job->check) ptx_print(m, out);
  return true;
}

static bool process_text(const char *text, size_t len, const char *name, const PtxJob *job,
                         Error *err) {
  PtxModule *m = ptx_parse(text, len, name, err);
  if (!m) return false;
  Str out = {0};
  bool ok = transform(m, job, &out, err);
  if (out.len) fwrite(out.data, 1, out.len, stdout);
  str_free(&out);
  ptx_free(m);
  return ok;
}

static bool process_image(const char *bytes, size_t size, const char *path, const PtxJob *job,
                          Error *err) {
  Image image;
  if (!image_open(bytes, size, &image, err)) return false;
  bool ok = true, any = false;
  for (uint32_t i = 0; ok && i < image.entries.len; i++) {
    const ImageEntry *entry = &image.entries.data[i];
    if (entry->kind != IMAGE_ENTRY_PTX) continue;
    Arena arena = {0};
    char target[24];
    const char *text,
        *name = arena_printf(&arena, "%s(%s)", path, image_entry_target(entry, target));
    size_t len;
    any = true;
    ok = image_entry_text(entry, &arena, &text, &len, err) &&
         process_text(text, len, name, job, err);
    arena_free(&arena);
  }
  image_close(&image);
  return ok && !any
             ? error_set(err,
                         "%s: there is no PTX in this file. `warpgrind image` lists what it holds.",
                         path)
             : ok;
}

static bool process_file(const char *path, const PtxJob *job, Error *err) {
  Str bytes = {0};
  if (!file_read(path, &bytes, err)) return false;
  ImageKind kind = bytes.len >= 64 ? image_identify(bytes.data) : IMAGE_PTX;
  bool ok = kind == IMAGE_PTX || kind == IMAGE_UNKNOWN
                ? process_text(bytes.data, bytes.len, path, job, err)
                : process_image(bytes.data, bytes.len, path, job, err);
  str_free(&bytes);
  return ok;
}

int cli_ptx(const CliArguments *a) {
  const char *tools = cli_value(a, CLI_PTX_TOOL);
  PtxJob job = {.check = cli_value(a, CLI_PTX_CHECK),
                .rename = cli_value(a, CLI_PTX_RENAME),
                // Both devices contract before a tool adds anything.
                .interrupts = cli_value(a, CLI_PTX_INTERRUPTS),
                .contract = tools || cli_value(a, CLI_PTX_CONTRACT),
                .dump = cli_value(a, CLI_PTX_DUMP)};
  Error bad = {0};
  int code = 0;
  if ((tools && !tools_parse(tools, &job.tools, &bad)) ||
      (job.dump && !cli_check_dump(job.dump, &bad)))
    return cli_misuse(a->subcommand, "%s", bad.text);
  for (uint32_t i = 0; i < a->words.len; i++) {
    Error err = {0};
    bool ok = process_file(a->words.data[i], &job, &err);
    fflush(stdout);
    if (!ok) {
      fprintf(stderr, "%s\n", err.text);
      code = EXIT_WARPGRIND;
    }
  }
  return code;
}
