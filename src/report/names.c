// The names that reports give to buffers and to variables.
#include "report/internal.h"

const char *report_buffer_name(const RunAllocation *a) {
  return !a ? NULL : a->name ? a->name : a->pointer;
}

// _ZZ4eachPiiE4tile is each(int*, int)::tile, and people call it tile. Variables that only PTX
// names (__local_depot, parameters) have no such name.
const char *report_object_name(Run *r, const RunSite *s) {
  if (!s->object || strncmp(s->object, "__local_depot", 13) == 0 ||
      strcmp(s->space ? s->space : "", "param") == 0)
    return NULL;
  const char *name = run_readable_name(r, s->object), *colons = strrchr(name, ':');
  return colons && colons[1] ? colons + 1 : name;
}
