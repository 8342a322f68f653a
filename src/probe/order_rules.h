// Which instructions order accesses, and how: order_rules.def. An instruction is looked up by its
// words: the text of a site in a recording serves as well as an instruction that is being woven.
#ifndef WG_PROBE_ORDER_RULES_H
#define WG_PROBE_ORDER_RULES_H

#include <stdbool.h>
#include <string.h>

typedef enum WgOrders {
  WG_ORDERS_NOTHING,         // or something that is not listed
  WG_ORDERS_BLOCK,           // a barrier of all threads of a block
  WG_ORDERS_PART,            // … of some of them
  WG_ORDERS_PART_ARRIVE,     // … that this thread does not wait at
  WG_ORDERS_CLUSTER_ARRIVE,  // a barrier of a cluster
  WG_ORDERS_CLUSTER_WAIT,
  WG_ORDERS_WARP,         // a barrier of lanes
  WG_ORDERS_LANES,        // lanes exchange values
  WG_ORDERS_FENCE,        // of the scope that is among its words
  WG_ORDERS_OTHER_FENCE,  // of matrix products or tensor maps
  // asynchronous copies, and groups of them; bulk copies have groups of their own
  WG_ORDERS_COPY,
  WG_ORDERS_BULK_COPY,
  WG_ORDERS_COMMIT,
  WG_ORDERS_WAIT,
  WG_ORDERS_WAIT_ALL,
  WG_ORDERS_BULK_COMMIT,
  WG_ORDERS_BULK_WAIT,
  WG_ORDERS_COPIES_ARRIVE,  // arrives on an mbarrier when copies are done
  WG_ORDERS_MBARRIER_INIT,  // this and what follows: of an mbarrier
  WG_ORDERS_MBARRIER_INVAL,
  WG_ORDERS_MBARRIER_ARRIVE,
  WG_ORDERS_MBARRIER_WAIT,
  WG_ORDERS_MBARRIER_COUNT  // its expected, pending or missing count
} WgOrders;

// has: the instruction has this modifier
typedef struct WgWords {
  const char *opcode;  // alone, or with what follows it in a text
  unsigned operands;
  bool (*has)(const void *instr, const char *word);
  const void *instr;
} WgWords;

static inline bool wg_opcode_begins(const char *opcode, const char *with) {
  size_t n = strlen(with);
  return !strncmp(opcode, with, n) && (!opcode[n] || strchr(". ;", opcode[n]));
}

static inline WgOrders wg_orders(const WgWords *w) {
#define ORDERS(opcode_, word, operands_, kind) \
  if (wg_opcode_begins(w->opcode, opcode_) && (!*word || w->has(w->instr, word)) && \
      (!operands_ || w->operands <= operands_)) \
    return WG_ORDERS_##kind;
#include "probe/order_rules.def"
#undef ORDERS
  return WG_ORDERS_NOTHING;
}

// How an access orders others. Atomic ones are strong whatever their words are.
enum {
  WG_ACCESS_STRONG = 1,
  WG_ACCESS_RELEASES = 2,  // earlier accesses are visible to those who acquire it here
  WG_ACCESS_ACQUIRES = 4,
  WG_ACCESS_OF_BLOCK = 8  // for threads of its block only; a fence too
};
static inline unsigned wg_access_order(const WgWords *w) {
  static const struct {
    const char *word;
    unsigned order;
  } words[] = {
      {".volatile", WG_ACCESS_STRONG},
      {".relaxed", WG_ACCESS_STRONG},
      {".mmio", WG_ACCESS_STRONG},
      {".acquire", WG_ACCESS_STRONG | WG_ACCESS_ACQUIRES},
      {".release", WG_ACCESS_STRONG | WG_ACCESS_RELEASES},
      {".acq_rel", WG_ACCESS_STRONG | WG_ACCESS_ACQUIRES | WG_ACCESS_RELEASES},
      {".cta", WG_ACCESS_OF_BLOCK},
  };
  unsigned order = 0;
  for (unsigned i = 0; i < sizeof words / sizeof words[0]; i++)
    if (w->has(w->instr, words[i].word)) order |= words[i].order;
  return order;
}

#endif
