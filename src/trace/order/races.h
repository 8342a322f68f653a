// Shared by the files that look for races: accesses word by word, and the list of races found.
#ifndef WG_TRACE_RACES_H
#define WG_TRACE_RACES_H

#include "trace/reader.h"

enum { WRITES = 1, STRONG = 2, STRONG_IN_BLOCK = 4 };  // strong: atomic, or volatile and the like
// mask: bytes of the word; side: which of two launches; until: the record up to which it may be
// pending, 0: it is done at once
typedef struct Touch {
  uint64_t word, block, warp, record, passed, until;
  uint32_t site, value;
  uint8_t lane, mask, flags, side;
} Touch;
enum { TOUCHES_MOST = 4 << 20, TOUCH_WORD = 4 };
typedef VEC(Touch) Touches;

// --- races_touch.c ---
// Adds the words of one access to `list`: of global memory those in [low, high), of shared memory
// all.
typedef struct TouchedWords {
  Touches *list;
  uint64_t low, high;
  bool shared;
} TouchedWords;
bool touches_add(TraceReader *t, const RowRef *r, const LaneAccess *access, Touch base,
                 const TouchedWords *to, Error *err);
uint8_t touch_flags(TraceKind kind, const ReaderSite *site);
void touches_sort(Touches *list);  // by word, block, barriers passed, record
// Whether both write the same value to the bytes that both write.
static inline bool touches_same_value(const Touch *a, const Touch *b) {
  uint32_t common = a->mask & b->mask, bytes = 0;
  for (unsigned i = 0; i < TOUCH_WORD; i++)
    if (common >> i & 1) bytes |= 255u << 8 * i;
  return a->flags & b->flags & WRITES && !((a->flags | b->flags) & STRONG_IN_BLOCK) &&
         !((a->value ^ b->value) & bytes);
}
// A few accesses to a word represent all of them: of each site, some of different blocks
// (by_block), or of different warps; more where they write different values.
enum { TOUCHES_CHOSEN = 96 };
typedef struct Chosen {
  const Touch *list[TOUCHES_CHOSEN];
  uint32_t n;
} Chosen;
void touches_choose(Chosen *c, const Touch *a, bool by_block);
// Ranges of global memory, piece by piece, each with as many accesses as there is room for.
typedef VEC(TraceRange) TouchRanges;
// what the launch writes, in whole words, sorted
bool touch_ranges_of(TraceReader *t, const ReaderLaunch *l, TouchRanges *out, Error *err);
// Fills the list with accesses to [low, high); *full: there is no room. Then looks at them.
typedef struct Pieces {
  bool (*fill)(TraceReader *t, void *user, uint64_t low, uint64_t high, bool *full, Error *err);
  bool (*look)(TraceReader *t, void *user, Error *err);
  Touches *touches;
  void *user;
} Pieces;
bool touch_pieces(TraceReader *t, const TouchRanges *ranges, const Pieces *p, Error *err);

// --- races_meant.c: wg_benign_race ---
// space: 0 global, of that process; else of a block; since: the first step that it counts for
typedef struct Meant {
  uint64_t space, low, high, since;
} Meant;
typedef struct AllMeant {
  Meant *list;
  uint32_t n;
} AllMeant;
bool meant_load(TraceReader *t, AllMeant *out, Error *err);
bool meant_has(const TraceReader *t, const AllMeant *m, const TraceOp *second,
               uint64_t word_address);

// --- races.c ---
typedef struct RaceList {
  TraceRaces *out;
  uint32_t cap;
  U64Map pairs;      // index plus 1
  uint32_t process;  // whose sites they are
  AllMeant meant;
} RaceList;
// One word of a race. Sides are named by a site's number or, of copies and sets, by
// races_host_side.
typedef struct RaceWord {
  uint64_t first_record, second_record, address;
  uint32_t first_lane, second_lane, first_side, second_side;
  TraceRaceClass class;
  bool same_value, has_shared, one_warp;
  uint64_t words;
} RaceWord;
bool races_add(TraceReader *t, RaceList *list, RaceWord w, Error *err);
uint32_t races_host_side(const ReaderStep *s);

// --- races_between.c: of steps that nothing orders; launch 0: all ---
bool races_between(TraceReader *t, uint32_t launch, RaceList *list, Error *err);

#endif
