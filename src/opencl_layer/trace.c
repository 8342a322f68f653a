// --opencl-times=FILE.json: calls and commands as a trace that Perfetto and chrome://tracing show.
// A row for each thread of the host, and one for each queue.
#include "opencl_layer/times.h"

#include <unistd.h>

enum { FIRST_QUEUE = 100000000 };  // rows of queues; threads have smaller numbers
static bool has_one;

void layer_trace_begin(FILE *out) {
  has_one = false;
  fputs("{\"traceEvents\":[", out);
}

static double us(uint64_t ns, uint64_t zero) { return ns > zero ? (double)(ns - zero) / 1000 : 0; }

static void add(FILE *out, const OpenclCommand *c, const char *category, const double span[2],
                uint64_t row) {
  const char *name = c->kernel ? c->kernel : c->call + strlen("clEnqueue");
  fprintf(out,
          "%s\n{\"name\":\"%s\",\"cat\":\"%s\",\"ph\":\"X\",\"ts\":%.3f,\"dur\":%.3f,\"pid\":%d,"
          "\"tid\":%llu,\"args\":{\"bytes\":%llu,\"queue\":%llu",
          has_one ? "," : "", name, category, span[0], MAX(span[1] - span[0], 0.001), (int)getpid(),
          (unsigned long long)row, (unsigned long long)c->bytes, (unsigned long long)c->queue);
  has_one = true;
}

void layer_trace_add(FILE *out, const OpenclCommand *c, uint64_t zero) {
  double host[2] = {us(c->begin_ns, zero), us(c->end_ns, zero)},
         device[2] = {us(c->started_ns, zero), us(c->ended_ns, zero)};
  add(out, c, "host", host, c->thread);
  fputs("}}", out);
  add(out, c, "device", device, FIRST_QUEUE + c->queue);
  fprintf(out, ",\"queued_us\":%.3f,\"submitted_us\":%.3f}}", us(c->queued_ns, zero),
          us(c->submitted_ns, zero));
}

void layer_trace_end(FILE *out) {
  fputs("\n],\"otherData\":{\"times\":\"events of OpenCL\"}}\n", out);
}
