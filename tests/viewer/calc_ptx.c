// Prints every function of the calculator that runs on the device, as one PTX file.
#include "view/calc.h"

static const struct { const char *name, *arguments; } functions[] = {
#define FUNCTION(name, arguments, what) {#name, arguments},
#include "view/calc_functions.def"
#undef FUNCTION
};

int main(void) {
  CalcValue x[4] = {{.type = CALC_DOUBLE, .f = 1},
                    {.type = CALC_DOUBLE, .f = 1},
                    {.type = CALC_DOUBLE, .f = 1},
                    {.type = CALC_DOUBLE, .f = 1}},
            out;
  unsigned n = 0;
  puts(".version 7.1\n.target sm_75\n.address_size 64");
  for (size_t i = 0; i < ARRAY_LEN(functions); i++) {
    Str notes = {0}, text = {0};
    Error err = {{0}};
    CalcCall call = {.name = functions[i].name,
                     .n = strlen(functions[i].name),
                     .arguments = x,
                     .count = (unsigned)strlen(functions[i].arguments)};
    if (!calc_call(&call, &out, &notes, &err)) return 1;
    if (!calc_ptx(functions[i].name, functions[i].arguments, out.type, &text)) continue;
    const char *entry = strstr(text.data, ".visible"),
               *rest = strstr(text.data, "calculate") + strlen("calculate");
    printf("%.*scalculate_%u%s\n", (int)(rest - strlen("calculate") - entry), entry, n++, rest);
    str_free(&notes);
    str_free(&text);
  }
  fprintf(stderr, "%u\n", n);
  return 0;
}
