// Numbers of the kinds that memcheck reports, for its weaving, its device code and its reports.
#ifndef WG_MEMCHECK_KINDS_H
#define WG_MEMCHECK_KINDS_H

enum {
#define KIND(id, number, ...) KIND_##id = number,
#include "tools/memcheck/kinds.def"
#undef KIND
};

#endif
