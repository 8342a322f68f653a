// fpcheck's options.
#ifndef WG_FPCHECK_OPTIONS_H
#define WG_FPCHECK_OPTIONS_H

#include "tools/options.h"

// WG_FP_NAN … of --fp: "nan,inf,div0,sub"
bool fpcheck_parse_kinds(const char *list, unsigned *kinds, Error *err);

#endif
