// A device for unit tests of the session: its memory lies at addresses that the host cannot use,
// so that code which confuses the two crashes. The test takes the place of the command: events
// are kept in a list.
#ifndef WG_TESTS_FAKE_DEVICE_H
#define WG_TESTS_FAKE_DEVICE_H

#include "session/internal.h"

typedef struct FakeDevice {
  bool no_memory;   // alloc fails
  bool unreadable;  // read fails, as after a fault
  bool busy;        // settle fails: launches go on
  uint32_t allocations, frees, mapped, settles;
  uint32_t mistakes;  // frees and accesses of memory that is not allocated
  U64Map blocks;      // device address -> size
} FakeDevice;

extern const SessionDeviceOps fake_device_ops;   // user: a FakeDevice
void *fake_device_host(uint64_t address);        // where the bytes of a device address lie
uint32_t fake_device_live(const FakeDevice *d);  // allocations that are not freed

// --- events that the session sends ---
typedef struct FakeEvent {
  ChannelEvent type;
  uint64_t first, second;  // the first two fields, where they are numbers
  char text[160];          // EVENT_NOTE, EVENT_FINDING: the text
} FakeEvent;
void fake_events_clear(void);
uint32_t fake_events(ChannelEvent type);                     // how many there were
const FakeEvent *fake_event(ChannelEvent type, uint32_t i);  // NULL: there were fewer

// --- a module as weaving leaves it ---
// One kernel, with one site and a launch record; counters: uint64_t of the module
SessionModule *fake_module(const char *name, const char *kernel, uint32_t counters);
uint32_t fake_launch(SessionKernel *k);  // on the legacy stream

#endif
