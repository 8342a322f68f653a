// fpcheck for kernels that are machine code only: what its files share.
#ifndef WG_TOOLS_FPCHECK_HOST_CLOSED_H
#define WG_TOOLS_FPCHECK_HOST_CLOSED_H

#include "tools/fpcheck/host.h"

// --- host_closed_formats.c ---
// Why launches of the kernel cannot be looked at; NULL: they can
const char *fp_closed_refuses(SessionKernel *k, const SassStores *stores);
// SASS_BIT()s of what the launch stores through this parameter
uint32_t fp_closed_formats(const SessionClosedLaunch *l, uint32_t param);

#endif
