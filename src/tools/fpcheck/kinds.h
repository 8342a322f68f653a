// Numbers of the kinds that fpcheck reports, for its weaving, its device code and its reports.
#ifndef WG_FPCHECK_KINDS_H
#define WG_FPCHECK_KINDS_H

enum {
#define KIND(id, number, ...) KIND_##id = number,
#include "tools/fpcheck/kinds.def"
#undef KIND
};

#endif
