// sha256: HMAC with SHA-256 (FIPS 180-4, RFC 2104), for proofs that only the owner of a key can
// make.
#ifndef WG_SHA256_H
#define WG_SHA256_H

#include "base/base.h"

enum { SHA256_BYTES = 32 };

void sha256_hmac(const uint8_t key[SHA256_BYTES], const void *data, size_t n,
                 uint8_t out[SHA256_BYTES]);

#endif
