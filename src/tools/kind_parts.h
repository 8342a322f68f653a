// Contents of a kind of finding: the last column of kinds.def, any of these joined by |. Device
// code includes this, too.
#ifndef WG_TOOLS_KIND_PARTS_H
#define WG_TOOLS_KIND_PARTS_H

enum KindParts {
  HAS_NO_PARTS = 0,  // the title, the place, the thread and the launch: every finding has these
  // --- fields of the device's record and of the run file ---
  HAS_ADDRESS = 1 << 0,       // address: what was accessed
  MAY_HAVE_ADDRESS = 1 << 1,  // the same; 0: not known
  HAS_POINTER = 1 << 2,  // value0, extra0: start and size of the object the address was made from
  // A second place of device code: where the value was read (initcheck) or stored (fpcheck), the
  // other access (racecheck), where other lanes wait (synccheck). Run file: extra1, the site's id.
  HAS_ORIGIN = 1 << 3,
  HAS_SOURCE = 1 << 4,    // a third: the device malloc of the memory. Run file: extra2, its id
  HAS_DETAIL = 1 << 5,    // size: a word of the tool's own. Run file: extra2
  HAS_OPERANDS = 1 << 6,  // value0, extra0 and address: numbers of the operation
  // --- what is known about its memory ---
  MAY_CROSS_END = 1 << 7,    // the access may begin inside an allocation and end after it
  OF_FREED_MEMORY = 1 << 8,  // freed before the launch or during it
  MAY_BE_IN_HEAP = 1 << 9,   // an address that is in no allocation is in the device's heap
  // --- how findings become lines of a report ---
  ONE_PER_PLACE = 1 << 10,  // instructions of one source line that hit the same memory: one finding
  EXPLAINS_OTHERS = 1 << 11,      // not reported: explains findings of other kinds
  WAITS_FOR_END = 1 << 12,        // the tool decides about it when its process has ended
  WAITS_IF_ADDRESSED = 1 << 13,   // the same, for host findings that are about an allocation
  STACK_IS_ALLOCATION = 1 << 14,  // the host stack is where the memory was allocated
  // A site counts kinds of different planes separately (WG_SITE_PLANES).
  SECOND_PLANE = 1 << 15,
  THIRD_PLANE = 1 << 16,
};

#endif
