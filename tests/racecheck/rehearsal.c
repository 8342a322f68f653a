// What is known of the kernels of rehearsal.cu, given as PTX: by executing one block of them on the
// host (host_rehearsal.c).
#include <stdio.h>

#include "tools/racecheck/host.h"
#include "weave/pass.h"

static char *read_file(const char *name) {
  FILE *f = fopen(name, "r");
  char *text = calloc(1, 1 << 22);
  if (!f || !fread(text, 1, (1 << 22) - 1, f)) exit(1);
  fclose(f);
  return text;
}

static bool rehearse(const RaceKernel *k, uint32_t threads, int n) {
  uint64_t pointers[2] = {0x1000, 0x2000};
  void *params[] = {&pointers[0], &pointers[1], &n};
  SessionLaunch l = {
      .grid = {4, 1, 1}, .block = {threads, 1, 1}, .cluster = {1, 1, 1}, .shared = 4 * 2 * threads};
  SessionParams given = {.pointers = params};
  return k && k->rehearsal && race_rehearse(k->rehearsal, &l, &given);
}

static void expect(const char *name, bool is, bool want) {
  printf("%s %s%s\n", is == want ? "ok" : "FAIL", name,
         is == want ? ""
         : is       ? ": was taken as free of races"
                    : ": is not known");
}

int main(int argc, char **argv) {
  Error err = {""};
  char *text = read_file(argv[1]);
  PtxModule *unit = ptx_parse(text, strlen(text), "rehearsal", &err);
  Woven woven = {0};
  WeavePlan plan = {.tools = 1u << TOOL_RACECHECK};
  if (!unit || !ptx_verify(unit, &err) || !weave_module(&unit, 1, &plan, &woven, &err)) {
    printf("FAIL weave: %s\n", err.text);
    return 1;
  }
  for (uint32_t i = 0; i < woven.nkernels; i++) {
    const char *name = woven.kernels[i].name;
    bool quiet = !strncmp(name, "quiet_", 6);
    expect(name, rehearse(woven.kernels[i].tool_data[TOOL_RACECHECK], 64, 4), quiet);
  }
  const RaceKernel *by_parameter =
      weave_kernel(&woven, "quiet_by_parameter")->tool_data[TOOL_RACECHECK];
  expect("another parameter", rehearse(by_parameter, 64, 1), true);
  expect("a parameter with which all threads meet", rehearse(by_parameter, 64, 0), false);
  expect("a parameter that leads outside", rehearse(by_parameter, 64, 5), false);
  const RaceKernel *pipeline = weave_kernel(&woven, "quiet_pipeline")->tool_data[TOOL_RACECHECK];
  expect("one turn", rehearse(pipeline, 64, 1), true);
  expect("more turns than there is time for", rehearse(pipeline, 64, 1 << 20), false);
  return 0;
}
