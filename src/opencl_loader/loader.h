// opencl_loader: Warpgrind's own libOpenCL.so.1, found ahead of the installed one. Loaders exist
// that know neither OCL_ICD_VENDORS nor layers (NVIDIA's): with this one a program gets our
// platform and --opencl-calls whatever is installed. With --opencl=system it forwards to the
// installed one.
#ifndef WG_OPENCL_LOADER_H
#define WG_OPENCL_LOADER_H

#define CL_TARGET_OPENCL_VERSION 300
#define CL_USE_DEPRECATED_OPENCL_1_0_APIS
#define CL_USE_DEPRECATED_OPENCL_1_1_APIS
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#define CL_USE_DEPRECATED_OPENCL_2_0_APIS
#define CL_USE_DEPRECATED_OPENCL_2_1_APIS
#define CL_USE_DEPRECATED_OPENCL_2_2_APIS
#include <CL/cl.h>
#include <CL/cl_egl.h>
#include <CL/cl_ext.h>
#include <CL/cl_gl.h>
#include <CL/cl_icd.h>

#include "base/base.h"

// --- table.c: the functions that a program's calls go to, layers included; never NULL ---
const cl_icd_dispatch *loader_table(void);
// --- installed.c: the libOpenCL.so.1 that the program would have without Warpgrind; NULL: none ---
void *loader_open_installed(void);

#endif
