// The kernels of warpgrind profile --calibrate, for ptxas.
#include <stdio.h>

#include "tools/profile/report_calibrate.h"

int main(void) {
  Str code = {0};
  calibrate_code(&code);
  fputs(code.data, stdout);
  str_free(&code);
}
