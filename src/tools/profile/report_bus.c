// Bytes over the bus between host and device, the time they take at its peak, and the time they
// took.
#include "tools/profile/report_bus.h"

#include "base/json.h"

enum { WORTH_SAYING = 64 << 10 };

typedef struct Bus {
  uint64_t copies, pageable, to_device, to_host, ns;
  uint64_t timed;  // bytes of copies whose times are known
} Bus;

static Bus bus_of(const ProfileModel *m) {
  Bus b = {0};
  for (uint32_t i = 0; i < m->calls.len; i++) {
    const uint64_t *v = m->calls.data[i]->v;
    bool in = v[CALL_KIND] == CALL_TO_DEVICE;
    if (!in && v[CALL_KIND] != CALL_TO_HOST) continue;
    b.copies++;
    if (in) b.to_device += v[CALL_BYTES];
    else b.to_host += v[CALL_BYTES];
    if (v[CALL_HOST_MEMORY] == HOST_PAGEABLE) b.pageable += v[CALL_BYTES];
    if (!v[CALL_STARTED] || v[CALL_ENDED] < v[CALL_STARTED]) continue;
    b.ns += v[CALL_ENDED] - v[CALL_STARTED];
    b.timed += v[CALL_BYTES];
  }
  return b;
}

static double best_ns(const ProfileModel *m, const Bus *b) {
  return (double)(b->to_device + b->to_host) / m->peaks->of[PEAK_PINNED];
}

void bus_text(const ProfileModel *m, Str *out) {
  Bus b = bus_of(m);
  uint64_t bytes = b.to_device + b.to_host;
  if (bytes < WORTH_SAYING) return;
  str_printf(out,
             " \nprofile: %.3g MB go to the device and %.3g MB to the host, in %llu cop%s: at best "
             "%.3g ms on %s (%.3g GB/s, pinned memory)\n",
             (double)b.to_device / 1e6, (double)b.to_host / 1e6, (unsigned long long)b.copies,
             b.copies == 1 ? "y" : "ies", best_ns(m, &b) / 1e6, m->peaks->device,
             m->peaks->of[PEAK_PINNED]);
  if (b.ns && b.timed)
    str_printf(out, "  they took %.3g ms, %.3g GB/s\n", (double)b.ns / 1e6,
               (double)b.timed / (double)b.ns);
}

void bus_json(const ProfileModel *m, Str *s) {
  Bus b = bus_of(m);
  json_open(s, "bus", '{');
  json_number(s, "copies", b.copies);
  json_number(s, "bytes_to_device", b.to_device);
  json_number(s, "bytes_to_host", b.to_host);
  json_number(s, "pageable_bytes", b.pageable);
  json_key(s, "best_ms");
  str_printf(s, "%.6g", best_ns(m, &b) / 1e6);
  if (b.ns) {
    json_key(s, "ms");
    str_printf(s, "%.6g", (double)b.ns / 1e6);
  }
  str_addc(s, '}');
}
