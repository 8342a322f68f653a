#!/usr/bin/env bash
# On a real GPU: the records of both devices are the same, results are those of a plain run, and
# what recording costs.
set -u
. tests/record/common
device=${RECORD_DEVICE:-gpu}
make_show
build operations &
build bandwidth &
build loops &
build sustained &
build wide -gencode arch=compute_90,code=compute_90 &
build bulk -gencode arch=compute_90,code=compute_90 &
build tensor -gencode arch=compute_90,code=compute_90 &
wait
"$work/operations" > "$work/plain.out"
record "$device" operations gpu &
record cpu operations cpu &
wait
check result cmp "$work/plain.out" "$work/gpu.out"
"$work/show" "$work/gpu.wg" > "$work/gpu.txt"
"$work/show" "$work/cpu.wg" > "$work/cpu.txt"
if cmp -s "$work/gpu.txt" "$work/cpu.txt"; then
  echo "ok same-records"
else
  diff "$work/cpu.txt" "$work/gpu.txt" | head -n 20; tail -n 3 "$work/gpu.err"
    echo "FAIL same-records"
fi
# both NAME: the program records the same on both devices, and computes what it does without
both() {
  record "$device" "$1" "gpu-$1" &
  record cpu "$1" "cpu-$1" &
  wait
  "$work/$1" > "$work/plain-$1.out"
  check "$1-result" cmp "$work/plain-$1.out" "$work/gpu-$1.out"
  "$work/show" "$work/gpu-$1.wg" > "$work/gpu-$1.txt"
  "$work/show" "$work/cpu-$1.wg" > "$work/cpu-$1.txt"
  if cmp -s "$work/gpu-$1.txt" "$work/cpu-$1.txt"; then
    echo "ok same-$1"
  else
    diff "$work/cpu-$1.txt" "$work/gpu-$1.txt" | head -n 20; tail -n 3 "$work/gpu-$1.err"
      echo "FAIL same-$1"
  fi
}
both loops                                 # operations that share records there
both wide                                  # operations of a warp together, copies
both bulk                                  # copies that are done later, mbarriers
both tensor                                # tiles of tensors
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
  awk -v n="$name" -v a="$ms" -v b="${with:-0}" \
    'BEGIN { printf "    %s: %.3f ms, recorded %.3f ms: %.1f times\n", n, a, b, b / (a + 1e-9) }'
done < "$work/fast.err"
records=$(sql speed "SELECT value FROM meta WHERE key='trace_records'")
operations=$(sql speed "SELECT value FROM meta WHERE key='trace_operations'")
bytes=$(sql speed "SELECT value FROM meta WHERE key='trace_bytes'")
echo "    $(sql speed "SELECT value FROM meta WHERE key='trace_raw_records'") raw records of $(sql \
  speed "SELECT value FROM meta WHERE key='trace_raw_bytes'") bytes"
nanoseconds=$(sql speed "SELECT sum(end_ns - begin_ns) FROM timed_launch")
awk -v b="$(sql speed "SELECT value FROM meta WHERE key='trace_raw_bytes'")" -v \
  n="${nanoseconds:-0}" \
  'BEGIN { printf "    %.1f GB/s of raw records while kernels ran\n", b / (n + 1e-9) }'
echo "    $records records, $operations operations, $took ms in all, $bytes bytes in the file"
check speed-records test "${records:-0}" -gt 1000
# records without end: RECORD_SUSTAINED is the number of elements and of launches
RECORD_ARGS=${RECORD_SUSTAINED:-4194304 8}
# shellcheck disable=SC2086
"$work/sustained" $RECORD_ARGS > "$work/plain-sustained.out" 2> /dev/null
record "$device" sustained sustained
check sustained-result cmp "$work/plain-sustained.out" "$work/sustained.out"
check sustained-complete test "$(sql sustained "SELECT value FROM meta WHERE key='trace_lost'")" = 0
awk -v b="$(sql sustained "SELECT value FROM meta WHERE key='trace_raw_bytes'")" '/^update/ { '\
'printf "    %.2f GB of raw records in %.1f ms: %.1f GB/s\n", b / 1e9, $2, b / $2 / 1e6 '\
'}' "$work/sustained.err"
rm -f "$work/sustained.wg"

# --record=inputs: launches run again on both devices, and what keeping their inputs costs
unset RECORD_ARGS
. tests/record/inputs_common
build inputs || exit
"$work/inputs" > "$work/inputs-plain.out"
record cpu inputs all
timeout -k 5 60 "$WARPGRIND" --device="$device" --record=inputs -o "$work/inputs.wg" \
  "$work/inputs" > "$work/inputs.out" 2> "$work/inputs.err"
check inputs-result cmp "$work/inputs-plain.out" "$work/inputs.out"
expand inputs cpu on_cpu 1..99 &
expand inputs "$device" on_gpu 1..99 &
wait
same on_cpu 1 2 3 4 5 6 7 8
# in the third and fourth, what atomic operations find depends on the order of warps
same on_gpu 1 2 5 6 7 8
build steps || exit
rm -f "$work/all.operations"
record cpu steps all
timeout -k 5 60 "$WARPGRIND" --device="$device" --record=inputs --inputs-rate=0 -o \
  "$work/steps.wg" "$work/steps" > "$work/steps.out" 2> "$work/steps.err"
expand steps "$device" again 5..20
same again 5 12 20
timeout -k 5 60 "$WARPGRIND" --device="$device" --record=inputs -o "$work/kept.wg" \
  "$work/bandwidth" ${RECORD_SIZE:-4194304 512} > "$work/kept.out" 2> "$work/kept.err"
check inputs-speed-result cmp "$work/fast.out" "$work/kept.out"
while read -r name ms _; do
  with=$(awk -v n="$name" '$1 == n { print $2 }' "$work/kept.err")
  awk -v n="$name" -v a="$ms" -v b="${with:-0}" 'BEGIN { printf "    %s: %.3f ms, with inputs '\
'kept %.3f ms: %.1f times\n", n, a, b, b / (a + 1e-9) }'
done < "$work/fast.err"

# --buffer
build buffers -g || exit
record "$device" buffers second --buffer=second
check buffer test "$(sql second "SELECT group_concat(DISTINCT kind || ' ' || space) || ' ' ||
  count(*) FROM access WHERE kind <> 'sync'")" = "store global 128"
