#!/usr/bin/env bash
# --opencl-times: the four times of every command of programs that do not ask for profiling, and
# sums that fit them; with our platform and with an installed one.
set -u
cd "$ROOT" || exit 1
. tests/lib/check.sh
. tests/lib/opencl.sh
build examples/opencl/example.c example
build tests/opencl/api.c api
times=$TEST_DIR/times.txt

# The sums once more, from the lines of the table.
cat > "$TEST_DIR/sums.py" << 'END'
import re, sys
lines = open(sys.argv[1]).read().splitlines()
rows = [l.split() for l in lines[2:] if re.match(r' *[0-9.]+ +[0-9.]+ ', l)]
covered = {'kernel': [], 'transfer': [], 'other': []}
for r in rows:
    at = [float(x) for x in r[:4]]
    assert at == sorted(at), r
    covered[r[5]].append((at[2], at[3]))
def points(spans):  # microseconds that are covered, in tenths
    out = set()
    for begin, end in spans: out |= set(range(round(begin * 10), round(end * 10)))
    return out
kernels, transfers = points(covered['kernel']), points(covered['transfer'])
text = '\n'.join(lines)
def said(pattern): return [float(x) for x in re.search(pattern, text).groups()]
near = lambda a, b: abs(a - b) <= 0.2 * len(rows) + 0.2  # the lines are rounded
n, k, t, o, unknown = said(r'commands: (\d+) \(kernels (\d+), transfers (\d+), others (\d+)\), '
                           r'of unknown times: (\d+)')
assert (n, k, t, o) == (len(rows), *[len(covered[x]) for x in ('kernel', 'transfer', 'other')])
assert unknown == float(sys.argv[2]), unknown
long, moved = said(r'kernels: ([0-9.]+) us, transfers: ([0-9.]+) us')
assert near(long, len(kernels) / 10) and near(moved, len(transfers) / 10), (long, moved)
assert near(said(r'same time: ([0-9.]+) us')[0], len(kernels & transfers) / 10)
END
sums() { python3 "$TEST_DIR/sums.py" "$times" 0; }

timeout 100 "$WARPGRIND" --device=cpu --tool=none -q --opencl-times="$times" \
  "$TEST_DIR/example" examples/opencl/overrun_fixed.cl 2> "$TEST_DIR/err"
check program_unchanged [ $? = 0 ]
kinds() { awk 'NR > 2 && $6 ~ /^(kernel|transfer|other)$/ { print $6, $7 }' "$times"; }
check kinds diff - <(kinds) << 'END'
transfer WriteBuffer
kernel example
transfer ReadBuffer
END
check sums sums
# every kind of command, several queues, events of the program's own
timeout 100 "$WARPGRIND" --device=cpu --tool=none -q --opencl-times="$times" "$TEST_DIR/api" \
  tests/opencl/api.cl > "$TEST_DIR/out" 2> "$TEST_DIR/err"
check api_unchanged [ $? = 0 ]
check api_times grep -q ' kernel   add_one$' "$times"
if [ -n "$(ls /etc/OpenCL/vendors/*.icd 2> /dev/null)" ]; then
  timeout 100 "$WARPGRIND" --opencl=system --device=cpu --tool=none -q --opencl-times="$times" \
    "$TEST_DIR/example" examples/opencl/overrun_fixed.cl 2> "$TEST_DIR/err"
  check installed_platform [ $? = 0 ]
  check installed_sums sums
else
  echo "skip installed_platform: no platform is installed"
fi

# the same in the run file, in the report and as a trace
has_commands() {
  "$WARPGRIND" sql "$TEST_DIR/run.wg" "SELECT call, coalesce(kernel, ''), kind, bytes, stream,
    line > 0, queued_ns <= submitted_ns AND submitted_ns <= started_ns AND started_ns <= ended_ns
    FROM measured_call ORDER BY number" | tail -n +2 | tr '\t' ' ' | diff - <(cat << 'END'
clEnqueueWriteBuffer  to device 4000 1 1 1
clEnqueueNDRangeKernel example launch 0 1 1 1
clEnqueueReadBuffer  to host 4000 1 1 1
END
  )
}
is_trace() {
  python3 - "$1" << 'END'
import json, sys
events = json.load(open(sys.argv[1]))['traceEvents']
device = [e for e in events if e['cat'] == 'device']
assert len(device) == 3 and len(events) == 6, events
assert all(e['ts'] >= e['args']['submitted_us'] >= e['args']['queued_us'] for e in device)
END
}
platforms=ours
[ -z "$(ls /etc/OpenCL/vendors/*.icd 2> /dev/null)" ] || platforms="ours system"
for platform in $platforms; do
  timeout 100 "$WARPGRIND" --opencl=$platform --device=cpu --tool=none -o "$TEST_DIR/run.wg" \
    --opencl-times="$TEST_DIR/times.json" "$TEST_DIR/example" examples/opencl/overrun_fixed.cl \
    2> "$TEST_DIR/err"
  check "run_file_$platform" has_commands
  check "trace_$platform" is_trace "$TEST_DIR/times.json"
  check "report_$platform" has "$TEST_DIR/err" "of the device, by events of OpenCL: kernels"
  timeout 100 "$WARPGRIND" -q --opencl=$platform --device=cpu --tool=none \
    --opencl-times="$TEST_DIR/times.json" "$TEST_DIR/example" examples/opencl/overrun_fixed.cl \
    2> "$TEST_DIR/err"
  check "quiet_$platform" eval '[ ! -s "$TEST_DIR/err" ]'
done
# with our platform profile has the commands already: once
timeout 100 "$WARPGRIND" profile --device=cpu -q -o "$TEST_DIR/run.wg" --opencl-times="$times" \
  "$TEST_DIR/example" examples/opencl/overrun_fixed.cl 2> "$TEST_DIR/err"
launches() {
  "$WARPGRIND" sql "$TEST_DIR/run.wg" "SELECT count(*) FROM measured_call WHERE kind = 'launch'" |
    tail -n 1
}
check once eval '[ "$(launches)" = 1 ]'
