// SQLite reads a -wal up to the first frame that does not fit, and silently leaves out what comes after it. That is right for what a
// killed writer left unfinished; here the rest is looked at, to tell that from damage.
#include "store/internal.h"

enum { HEADER = 32, FRAME = 24 };

static uint32_t big(const uint8_t *p) { return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3]; }

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

typedef enum { FRAME_GOOD, FRAME_OLD, FRAME_BAD } FrameState;            // OLD: of an earlier use of the file

static FrameState check_frame(const uint8_t *header, const uint8_t *frame, uint32_t bytes, uint32_t sums[2]) {
  unsigned same = (memcmp(frame + 8, header + 16, 4) == 0) + (memcmp(frame + 12, header + 20, 4) == 0);
  if (same < 2) return same ? FRAME_BAD : FRAME_OLD;
  bool is_big = header[3] & 1;
  add_up(is_big, frame, 8, sums);
  add_up(is_big, frame + FRAME, bytes, sums);
  return big(frame + 16) == sums[0] && big(frame + 20) == sums[1] ? FRAME_GOOD : FRAME_BAD;
}

static bool check_frames(FILE *f, const uint8_t *header, uint32_t bytes, Error *why) {
  uint8_t *frame = mem_alloc(FRAME + bytes);
  uint32_t sums[2] = {big(header + 24), big(header + 28)};
  uint64_t number = 1, ended = 0;          // ended: the frame at which SQLite stops
  bool bad = false;
  for (; !bad && fread(frame, FRAME + bytes, 1, f) == 1 && !(ended && number > ended + 1); number++) {
    FrameState state = check_frame(header, frame, bytes, sums);
    bad = ended ? state != FRAME_OLD : state == FRAME_BAD;
    if (state == FRAME_OLD && !ended) ended = number;
  }
  free(frame);
  if (bad) error_set(why, "frame %llu of its -wal is not as it was written", (unsigned long long)(ended ? ended : number - 1));
  return bad;
}

bool wal_is_damaged(const char *path, Error *why) {
  uint8_t header[HEADER];
  FILE *f = fopen(path, "rbe");
  if (!f) return false;
  bool bad = false;
  if (fread(header, HEADER, 1, f) == 1) {
    uint32_t sums[2] = {0}, bytes = big(header + 8);
    add_up(header[3] & 1, header, 24, sums);
    bad = (big(header) & ~1u) != 0x377F0682 || bytes < 512 || bytes > 65536 || sums[0] != big(header + 24) || sums[1] != big(header + 28);
    if (bad) error_set(why, "the header of its -wal is not as it was written");
    else bad = check_frames(f, header, bytes, why);
  }
  fclose(f);
  return bad;
}
