// ptx_dump: what `warpgrind ptx --dump=LIST` prints; part of ptx.c's job in a file of its own.
#ifndef WG_CLI_PTX_DUMP_H
#define WG_CLI_PTX_DUMP_H

#include "ir/ir.h"
#include "ptx/ptx.h"

bool cli_check_dump(const char *list, Error *err);  // are all of these known stages?
bool cli_dump_module(PtxModule *m, const char *list, Str *out, Error *err);

#endif
