// Numbers of the kinds that initcheck reports, for its weaving, its device code and its reports.
#ifndef WG_INITCHECK_KINDS_H
#define WG_INITCHECK_KINDS_H

enum {
#define KIND(id, number, ...) KIND_##id = number,
#include "tools/initcheck/kinds.def"
#undef KIND
};

#endif
