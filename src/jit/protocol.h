// The protocol between the library and its compiler, over a socket: requests one after the other,
// each with one answer. Both are of one build, so numbers are in the machine's own byte order.
#ifndef WG_JIT_PROTOCOL_H
#define WG_JIT_PROTOCOL_H

#include <stdint.h>

#define JIT_MAGIC 0x31544a57u  // "WJT1"
enum { JIT_MOST_TEXT = 64 << 20, JIT_MOST_CODE = 64 << 20 };
// The function of a request's LLVM text that is called.
#define JIT_FUNCTION "region"

typedef struct JitRequest {
  uint32_t magic, text_bytes;  // then the text
} JitRequest;

typedef struct JitAnswer {
  uint32_t magic;
  uint32_t failed;  // the bytes that follow are a sentence, not code
  uint32_t bytes;
  uint32_t entry;  // offset of the function in the code
} JitAnswer;

#endif
