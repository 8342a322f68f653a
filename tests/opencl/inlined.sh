#!/usr/bin/env bash
# A finding in an inlined function has the chain of its calls, in text and in JSON.
set -u
cd "$ROOT" || exit 1
. tests/lib/check.sh
. tests/lib/opencl.sh
build examples/opencl/example.c example
run() {
  timeout 100 "$WARPGRIND" --device=cpu --color=never --tool=memcheck \
    --json="$TEST_DIR/report.json" "$TEST_DIR/example" "${1:-tests/opencl/inlined.cl}" \
    > "$TEST_DIR/out" 2> "$TEST_DIR/err"
}
# line FILE LABEL
line() { grep -n "label: $2\$" "tests/opencl/inlined.$1" | cut -d: -f1; }
at() { echo "$([ "$1" = cl ] || echo ./)tests/opencl/inlined.$1:$(line "$1" "$2") in $3"; }
# chain PLACE…: the places are all that a finding has
chain() {
  python3 - "$TEST_DIR/err" "$@" << 'END'
import re, sys
text = re.sub('^==[0-9]+== *', '', open(sys.argv[1]).read(), flags=re.M)
want = '(oob-read): 4 bytes of global memory\nat ' + '\ninlined at '.join(sys.argv[2:])
sys.exit(want + '\nby work-item' not in text and text + 'lacks ' + want)
END
}
json() {
  python3 - "$TEST_DIR/report.json" "$(line h element) $(line cl call_element) \
$(line cl call_sum) $(line cl call_pair)" << 'END'
import json, sys
found = json.load(open(sys.argv[1]))['findings']
chains = [[(at['line'], at['function']) for at in [f] + f.get('inlined_at', [])] for f in found]
names = 'element sum pair example'.split()
want = list(zip(map(int, sys.argv[2].split()), names))
sys.exit(want not in chains and 'chains %s, not %s' % (chains, want))
END
}
run
check exit_code test $? = 99
check text chain "$(at h element element)" "$(at cl call_element sum)" \
  "$(at cl call_sum pair)" "$(at cl call_pair example)"
# vload2 is a function of the library: it is no part of the chain
check library chain "$(at cl call_sum pair)" "$(at cl call_pair example)"
check json json
if command -v ptxas > /dev/null; then
  # the cache has no programs with headers
  { cat tests/opencl/inlined.h; grep -v '#include' tests/opencl/inlined.cl; } > "$TEST_DIR/one.cl"
  run "$TEST_DIR/one.cl"
  code=$(grep -rl '^ptx$' "$WARPGRIND_CACHE_DIR/opencl" | head -n 1)
  sed '1,/^ptx$/d' "$code" > "$TEST_DIR/example.ptx"
  check assembles eval 'has "$TEST_DIR/example.ptx" inlined_at &&
    ptxas -arch=sm_80 -o /dev/null "$TEST_DIR/example.ptx"'
fi
# fit.c: the virtual device sees neighbouring addresses behind `int i = get_global_id(0)`
cat > "$TEST_DIR/neighbours.cl" << 'END'
kernel void example(global const float *in, global float *out, local float *scratch, int n) {
  int i = get_global_id(0);
  if (i < n) out[i] = 2 * in[i] + in[i + 1];
}
END
run "$TEST_DIR/neighbours.cl"
code=$(grep -rl 'wgcl_low' "$WARPGRIND_CACHE_DIR/opencl" | head -n 1)
check neighbours eval '[ -n "$code" ] && ! grep -E "cvt.s64.s32.*, *%rd" "$code"'

# a compiler that does not read its own assembly: the same finding, at its line
cat > "$TEST_DIR/clang" << END
#!/bin/sh
case "\$*" in *numbered.ll*) exit 1 ;; esac
exec $(echo "$compilers" | tail -n 1) "\$@"
END
chmod +x "$TEST_DIR/clang"
WARPGRIND_OPENCL_CLANG=$TEST_DIR/clang run
check without_chain chain "$(at h element example)"
