// Fuzz target: everything a process can write into the channel, through the decoder into a run and
// its reports. Input: type of the event (or 255: a finding of a device, 254: counts), length in
// words, that many words.
#include "channel/channel.h"
#include "report/report.h"
#include "run/run.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void deliver(ChannelSink *sink, unsigned type, uint64_t *words, size_t n) {
  AnyEvent e;
  WgFinding f = {0};
  if (type == 255) {
    memcpy(&f, words + 1, MIN(n * 8, sizeof f));
    sink->finding(sink->user, 1, 0, &f);
  } else if (type == 254) {
    if (n > 1) sink->site_count(sink->user, 1, 0, (uint32_t)words[1], words[2]);
    if (n > 1) sink->kernel_counts(sink->user, 1, (uint32_t)words[1], words[2], words[2]);
  } else if (channel_decode(type, words, (n + 1) * 8, &e)) {
    // What was decoded encodes to as many bytes and decodes again.
    size_t again = channel_encoded_size(type, &e);
    CHECK(again == (n + 1) * 8);
    uint64_t *copy = malloc(again);
    AnyEvent same;
    channel_encode(type, &e, copy, again);
    CHECK(channel_decode(type, copy, again, &same));
    free(copy);
    sink->event(sink->user, 1, type, &e);
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  Run run = {.tools = "count", .device = "cpu", .program = "p"};
  ChannelSink sink;
  run_sink(&run, &sink);
  sink.opened(sink.user, 1, 4711);
  for (size_t at = 0; at + 2 <= size;) {
    unsigned type = data[at] >= 254 ? data[at] : data[at] % (EVENT_COUNT + 2);
    size_t n = MIN((size_t)data[at + 1], (size - at - 2) / 8);
    uint64_t *words = calloc(n + 1, 8);
    memcpy(words + 1, data + at + 2, n * 8);
    deliver(&sink, type, words, n);
    free(words);
    at += 2 + n * 8;
  }
  sink.device_closed(sink.user, 1, 0, 3, true);
  sink.closed(sink.user, 1, CLOSED_ENDED, 1, true);
  Str out = {0};
  for (uint32_t i = 0; i < run.findings.len; i++) report_finding(&run, run.findings.data[i], &out);
  report_results(&run, true, true, &out);
  report_results(&run, false, true, &out);
  report_coverage(&run, true, &out);
  report_repeats(&run, &out);
  report_summary(&run, true, &out);
  report_json(&run, &out);
  report_sarif(&run, &out);
  report_junit(&run, &out);
  for (uint32_t i = 0; i < run.findings.len; i++)
    report_suppression_entry(&run, run.findings.data[i], &out);
  str_free(&out);
  run_free(&run);
  return 0;
}
