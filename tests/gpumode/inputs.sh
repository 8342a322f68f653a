#!/usr/bin/env bash
# timeout: 300
# --record=inputs in GPU mode: the kernel that keeps pages runs on the stand-in. Its launches run
# again on both devices, and do what they do on the virtual device. And --buffer there.
set -u
. tests/gpumode/lib.sh
flock "$BUILD/tests" make -s BUILD="$BUILD" CC="$CC" SAN="$SAN" \
  "$BUILD/tests/cudart/libcudart.so.13" > "$TEST_DIR/make.log" 2>&1 || { cat "$TEST_DIR/make.log"
  exit 1; }
RECORD_NVCC=-cudart=shared
. tests/record/common
. tests/record/inputs_common
build inputs || exit
record cpu inputs all
export LD_LIBRARY_PATH=$BUILD/tests/cudart${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
timeout -k 5 100 "$WARPGRIND" --device=gpu --record=inputs -o "$work/inputs.wg" "$work/inputs" > \
  "$work/inputs.out" 2> "$work/inputs.err"
check result cmp "$work/all.out" "$work/inputs.out"
check kept test "$(sql inputs "SELECT count(*) FROM step WHERE kind = 'inputs' AND recorded")" = 9
check no-times test "$(sql inputs "SELECT count(begin_ns) FROM timed_launch")" = 0
check once test "$(sql inputs "SELECT sum(bytes) < 900000 FROM trace_contents")" = 1
expand inputs cpu on_cpu 1..99
same on_cpu 1 2 3 4 5 6 7 8
expand inputs gpu on_gpu 1..99
same on_gpu 1 2 3 4 5 6 7 8
# the launch behind the graph has another number here
check behind-graph cmp <(sed -n 's/^15	//p' "$work/all.operations") \
  <(sed -n 's/^11	//p' "$work/on_gpu.operations")
check behind-graph-there test "$(sql on_gpu "SELECT count(*) FROM launch WHERE number = 11")" = 1
expand inputs gpu one 8
same one 8
# operations on one buffer, which is freed and allocated again
build buffers -g || exit
# by numbers: the runtime of these tests has source of its own
record gpu buffers second --buffer=2,4
check buffer test "$(sql second "SELECT group_concat(DISTINCT kind || ' ' || space) || ' ' ||
  count(*) FROM access WHERE kind <> 'sync'")" = "store global 128"
# what copies from the host and sets bring is kept when they are made, and not asked of the device:
# nothing of it is in the steps before launches, unless only the device knows it (7, 10)
rm -f "$work/all.operations"
build told || exit
record cpu told all
for rate in 0 $([ "${TEST_SIZE:-}" != long ] || echo 1000) 1000000; do
  timeout -k 5 100 "$WARPGRIND" --device=gpu --record=inputs --inputs-rate=$rate -o \
    "$work/told$rate.wg" "$work/told" > "$work/told.out" 2> "$work/told.err"
  check told$rate-result cmp "$work/all.out" "$work/told.out"
  [ $rate = 0 ] && [ "${TEST_SIZE:-}" != long ] && continue  # see told_gpu
  expand told$rate cpu told${rate}_cpu 1..10
  same told${rate}_cpu 1 2 3 4 5 6 7 8 9 10
done
# pages leave through memory of the device; without it, and where it is too small, through the
# host's
for places in $([ "${TEST_SIZE:-}" != long ] || echo 0) 2; do
  WARPGRIND_INPUTS_PLACES=$places timeout -k 5 100 "$WARPGRIND" --device=gpu --record=inputs \
    --inputs-rate=1000000 -o "$work/places$places.wg" "$work/told" > "$work/told.out" 2> \
    "$work/told.err"
  expand places$places cpu places${places}_cpu 1..10
  same places${places}_cpu 1 2 3 4 5 6 7 8 9 10
done
expand told0 gpu told_gpu 1..10
same told_gpu 1 2 3 4 5 6 7 8 9 10
for launch in 3 5 8; do
  expand told0 cpu told_one$launch $launch
  same told_one$launch $launch
done
check told-by-device test "$(sql told0 "SELECT group_concat(DISTINCT l.number) FROM trace_contents c
  JOIN step s ON s.number = c.step JOIN launch l ON l.id = s.launch WHERE s.kind = 'inputs'")" = \
  7,10
check told-by-host test "$(sql told0 "SELECT group_concat(kind || recorded, ' ') FROM (SELECT kind,
  recorded FROM step WHERE kind <> 'inputs' AND kind <> 'launch' ORDER BY number)")" = \
  "copy1 set1 copy1 set1 copy1 copy1 copy1 set1 copy1 copy0 copy0 set1 copy1 copy0 copy0"
# the second of two equal copies brings nothing new
check told-once test "$(sql told0 "SELECT count(DISTINCT step) FROM trace_contents WHERE step IN
  (SELECT number FROM step WHERE kind = 'copy' AND recorded)")" = 6
