#include "report/internal.h"

const char *report_buffer_name(const RunAllocation *a) { return !a ? NULL : a->name ? a->name : a->pointer; }
