// Raw records packed and unpacked in memory.
#ifndef WG_TRACE_PACK_H
#define WG_TRACE_PACK_H

#include "base/base.h"

// in units of 16 bytes. back: how far before the record its pattern begins, which has the same
// length; 0: there is none
typedef struct PackRecord {
  uint16_t length, back;
} PackRecord;
enum { PACK_HEAD = 16 };
#define PACK_MOST(bytes, records) \
  (PACK_HEAD + (bytes) + (bytes) / 32 + \
   (records) * (sizeof(PackRecord) + 1))  // what a block may take
enum { PACK_BEHIND = 64 };                // bytes behind that which may be written, too

// Packs these records, n adjacent bytes, into one block. Returns its length, a multiple of 16.
size_t pack_records(uint8_t *to, const uint8_t *data, size_t n, const PackRecord *records,
                    uint32_t count);
// Unpacks blocks. Returns how many bytes they were; SIZE_MAX: not packed records, or no room.
size_t unpack_records(uint8_t *to, size_t room, const uint8_t *from, size_t n);
extern bool pack_plainly;  // for tests: without instructions that not every processor has

#endif
