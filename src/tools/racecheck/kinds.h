// Numbers of the kinds that racecheck reports, for its weaving, its device code and its reports.
#ifndef WG_RACECHECK_KINDS_H
#define WG_RACECHECK_KINDS_H

enum {
#define KIND(id, number, ...) KIND_##id = number,
#include "tools/racecheck/kinds.def"
#undef KIND
};

#endif
