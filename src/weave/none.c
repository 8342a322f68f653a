// none: the identity pass. It looks at nothing and adds nothing: what --tool=none runs is the
// program as it was parsed.
#include "weave/pass.h"

static void weave_nothing(Body *b) {}

const Pass pass_none = {.weave = weave_nothing};
