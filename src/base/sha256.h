// sha256: SHA-256 and HMAC (FIPS 180-4, RFC 2104), for proofs that only the owner of a key can
// make.
#ifndef WG_SHA256_H
#define WG_SHA256_H

#include "base/base.h"

enum { SHA256_BYTES = 32 };

typedef struct Sha256 {
  uint32_t state[8];
  uint64_t length;
  uint8_t block[64];
} Sha256;
void sha256_begin(Sha256 *s);
void sha256_add(Sha256 *s, const void *data, size_t n);
void sha256_end(Sha256 *s, uint8_t out[SHA256_BYTES]);

void sha256_hmac(const uint8_t key[SHA256_BYTES], const void *data, size_t n,
                 uint8_t out[SHA256_BYTES]);

#endif
