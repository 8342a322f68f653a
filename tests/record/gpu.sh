#!/usr/bin/env bash
# On a real GPU: the records of both devices are the same, results are those of a plain run, and what recording costs.
set -u
. tests/record/common
device=${RECORD_DEVICE:-gpu}
make_show
build operations &
build bandwidth &
wait
"$work/operations" > "$work/plain.out"
record "$device" operations gpu &
record cpu operations cpu &
wait
check result cmp "$work/plain.out" "$work/gpu.out"
"$work/show" "$work/gpu.wg" > "$work/gpu.txt"
"$work/show" "$work/cpu.wg" > "$work/cpu.txt"
if cmp -s "$work/gpu.txt" "$work/cpu.txt"; then echo "ok same-records"; else diff "$work/cpu.txt" "$work/gpu.txt" | head -n 20; tail -n 3 "$work/gpu.err"; echo "FAIL same-records"; fi
check complete test "$(sql gpu "SELECT value FROM meta WHERE key='trace_lost'")" = 0
record "$device" operations tiny --record-buffer=0
"$work/show" "$work/tiny.wg" > "$work/tiny.txt"
check tiny-rings cmp "$work/tiny.txt" "$work/gpu.txt"

RECORD_ARGS=${RECORD_SIZE:-4194304 512}
# shellcheck disable=SC2086
"$work/bandwidth" $RECORD_ARGS > "$work/fast.out" 2> "$work/fast.err"
start=$(date +%s%N)
record "$device" bandwidth speed
took=$((($(date +%s%N) - start) / 1000000))
check speed-result cmp "$work/fast.out" "$work/speed.out"
check speed-complete test "$(sql speed "SELECT value FROM meta WHERE key='trace_lost'")" = 0
while read -r name ms _; do
  with=$(awk -v n="$name" '$1 == n { print $2 }' "$work/speed.err")
  awk -v n="$name" -v a="$ms" -v b="${with:-0}" 'BEGIN { printf "    %s: %.3f ms, recorded %.3f ms: %.1f times\n", n, a, b, b / (a + 1e-9) }'
done < "$work/fast.err"
records=$(sql speed "SELECT value FROM meta WHERE key='trace_records'")
operations=$(sql speed "SELECT value FROM meta WHERE key='trace_operations'")
bytes=$(sql speed "SELECT value FROM meta WHERE key='trace_bytes'")
echo "    $records records, $operations operations, $took ms in all, $bytes bytes in the file"
check speed-records test "${records:-0}" -gt 1000
