// fpcheck for kernels that are machine code only: what its files share.
#ifndef WG_TOOLS_FPCHECK_HOST_CLOSED_H
#define WG_TOOLS_FPCHECK_HOST_CLOSED_H

#include "tools/fpcheck/host.h"
#include "tools/fpcheck/scan_abi.h"

// --- host_closed_formats.c ---
// Why launches of the kernel cannot be checked; NULL: they can
const char *fp_closed_refuses(SessionKernel *k, const SassStores *stores);
// SASS_BIT()s of the formats that the launch stores through this parameter. If several are
// floating-point formats, the buffer holds one of these, and it is not known which.
uint32_t fp_closed_formats(const SessionClosedLaunch *l, uint32_t param);

// --- host_closed_several.c; with the lock of host_closed.c held ---
// formats: the formats the buffer may have; 0: its format is known. true: every format's event has
// now arrived
bool fp_closed_confirmed(const WgFpEvent *e, SassFormat format, uint32_t formats);
void fp_closed_name_formats(Str *out, SassFormat format, uint32_t formats);  // "bf16 or f32"

#endif
