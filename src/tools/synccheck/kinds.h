// Numbers of the kinds that synccheck reports, for its weaving, its device code and its reports.
#ifndef WG_SYNCCHECK_KINDS_H
#define WG_SYNCCHECK_KINDS_H

enum {
#define KIND(id, number, ...) KIND_##id = number,
#include "tools/synccheck/kinds.def"
#undef KIND
};

#endif
