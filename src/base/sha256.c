#include "base/sha256.h"

typedef struct Sha256 {
  uint32_t state[8];
  uint64_t length;
  uint8_t block[64];
} Sha256;

static const uint32_t constants[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

static uint32_t rotate(uint32_t x, int n) { return x >> n | x << (32 - n); }

static void mix(uint32_t state[8], const uint8_t block[64]) {
  uint32_t w[64], v[8];
  for (int i = 0; i < 16; i++)
    w[i] = (uint32_t)block[4 * i] << 24 | (uint32_t)block[4 * i + 1] << 16 |
           (uint32_t)block[4 * i + 2] << 8 | block[4 * i + 3];
  for (int i = 16; i < 64; i++) {
    uint32_t a = w[i - 15], b = w[i - 2];
    w[i] = w[i - 16] + w[i - 7] + (rotate(a, 7) ^ rotate(a, 18) ^ a >> 3) +
           (rotate(b, 17) ^ rotate(b, 19) ^ b >> 10);
  }
  memcpy(v, state, sizeof v);
  for (int i = 0; i < 64; i++) {
    uint32_t a = v[0], e = v[4];
    uint32_t choice = (e & v[5]) ^ (~e & v[6]), majority = (a & v[1]) ^ (a & v[2]) ^ (v[1] & v[2]);
    uint32_t one = v[7] + (rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25)) + choice + constants[i] +
                   w[i];
    uint32_t two = (rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22)) + majority;
    memmove(v + 1, v, 7 * sizeof *v);
    v[4] += one;
    v[0] = one + two;
  }
  for (int i = 0; i < 8; i++) state[i] += v[i];
}

static void begin(Sha256 *s) {
  *s = (Sha256){.state = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c,
                          0x1f83d9ab, 0x5be0cd19}};
}

static void add(Sha256 *s, const void *data, size_t n) {
  for (const uint8_t *p = data, *end = p + n; p < end;) {
    size_t used = s->length % 64, part = MIN(64 - used, (size_t)(end - p));
    memcpy(s->block + used, p, part);
    s->length += part;
    p += part;
    if (used + part == 64) mix(s->state, s->block);
  }
}

static void end(Sha256 *s, uint8_t out[SHA256_BYTES]) {
  static const uint8_t padding[64] = {0x80};
  uint8_t bits[8];
  for (int i = 0; i < 8; i++) bits[i] = (uint8_t)(s->length * 8 >> (56 - 8 * i));
  add(s, padding, 1 + (119 - s->length % 64) % 64);
  add(s, bits, sizeof bits);
  for (int i = 0; i < SHA256_BYTES; i++) out[i] = (uint8_t)(s->state[i / 4] >> (24 - 8 * (i % 4)));
}

static void hash_keyed(const uint8_t key[SHA256_BYTES], uint8_t pad, const void *data, size_t n,
                       uint8_t out[SHA256_BYTES]) {
  uint8_t block[64];
  Sha256 s;
  for (int i = 0; i < 64; i++) block[i] = (uint8_t)((i < SHA256_BYTES ? key[i] : 0) ^ pad);
  begin(&s);
  add(&s, block, sizeof block);
  add(&s, data, n);
  end(&s, out);
}

void sha256_hmac(const uint8_t key[SHA256_BYTES], const void *data, size_t n,
                 uint8_t out[SHA256_BYTES]) {
  uint8_t inner[SHA256_BYTES];
  hash_keyed(key, 0x36, data, n, inner);
  hash_keyed(key, 0x5c, inner, sizeof inner, out);
}
