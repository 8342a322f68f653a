// Tells a -wal that a killed writer left unfinished from a damaged one. SQLite reads it up to the
// first frame that does not fit, and silently ignores the rest; this file looks at the rest.
#include "store/internal.h"

enum { HEADER = 32, FRAME = 24 };

static uint32_t big(const uint8_t *p) {
  return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static void add_up(bool is_big, const uint8_t *p, size_t n, uint32_t sums[2]) {
  for (; n >= 8; n -= 8, p += 8) {
    uint32_t a, b;
    if (is_big) {
      a = big(p);
      b = big(p + 4);
    } else {
      memcpy(&a, p, 4);
      memcpy(&b, p + 4, 4);
    }
    sums[0] += a + sums[1];
    sums[1] += b + sums[0];
  }
}

typedef enum { FRAME_GOOD, FRAME_OLD, FRAME_BAD } FrameState;  // OLD: of an earlier use of the file

static FrameState check_frame(const uint8_t *header, const uint8_t *frame, uint32_t bytes,
                              uint32_t sums[2]) {
  unsigned same = (memcmp(frame + 8, header + 16, 4) == 0) +
                  (memcmp(frame + 12, header + 20, 4) == 0);
  if (same < 2) return same ? FRAME_BAD : FRAME_OLD;
  bool is_big = header[3] & 1;
  add_up(is_big, frame, 8, sums);
  add_up(is_big, frame + FRAME, bytes, sums);
  return big(frame + 16) == sums[0] && big(frame + 20) == sums[1] ? FRAME_GOOD : FRAME_BAD;
}

// SQLite writes the frames of a transaction again when it commits, so that those of the last one
// may be in disorder when the writer is killed; those of earlier ones may not.
static WalState check_frames(FILE *f, const uint8_t *header, uint32_t bytes, uint64_t *first_bad) {
  uint8_t *frame = mem_alloc(FRAME + bytes);
  uint32_t sums[2] = {big(header + 24), big(header + 28)};
  uint64_t commits[2] = {0}, old = 0;  // the last two frames that end a transaction
  *first_bad = 0;
  for (uint64_t number = 1; fread(frame, FRAME + bytes, 1, f) == 1; number++) {
    FrameState state = check_frame(header, frame, bytes, sums);
    if (state == FRAME_OLD && old + 1 == number && old)
      break;  // two old frames in a row: all that follow are old
    if (state == FRAME_OLD) old = number;
    else if (old) *first_bad = *first_bad ? *first_bad : old;  // a single "old" frame is a bad one
    if (state == FRAME_BAD && !*first_bad) *first_bad = number;
    if (state == FRAME_OLD || !big(frame + 4)) continue;
    commits[0] = commits[1];
    commits[1] = number;
  }
  free(frame);
  if (!*first_bad || *first_bad > commits[1]) return WAL_WHOLE;
  return *first_bad > commits[0] ? WAL_CUT : WAL_DAMAGED;
}

WalState wal_check(const char *path, Error *why) {
  uint8_t header[HEADER];
  uint64_t bad = 0;
  FILE *f = fopen(path, "rbe");
  if (!f) return WAL_WHOLE;
  WalState state = WAL_WHOLE;
  if (fread(header, HEADER, 1, f) == 1) {
    uint32_t sums[2] = {0}, bytes = big(header + 8);
    add_up(header[3] & 1, header, 24, sums);
    bool bad_header = (big(header) & ~1u) != 0x377F0682 || bytes < 512 || bytes > 65536 ||
                      sums[0] != big(header + 24) || sums[1] != big(header + 28);
    state = bad_header ? WAL_DAMAGED : check_frames(f, header, bytes, &bad);
    if (bad_header) error_set(why, "the header of its -wal is not as it was written");
    else error_set(why, "frame %llu of its -wal is not as it was written", (unsigned long long)bad);
  }
  fclose(f);
  return state;
}
