#!/usr/bin/env bash
# quick: yes
# timeout: 900
# Kernels with atomics, kernels that wait for the host, updates in place, graphs: found or named,
# results unchanged, twins silent.
. tests/fpcheck/lib.sh
command -v nvcc > /dev/null || { echo "skip situations: nvcc is not on PATH"; exit 0; }
build situations compute_75
build many compute_75
build seeds compute_75
build async compute_90a
line() { line_of "$1" "$t/situations.cu"; }
errors() { python3 -c 'import json,sys; print(*sorted({"%s:%d" % (f["kind"], f["line"]) for f in
  json.load(open(sys.argv[1]))["findings"] if f["severity"] == "error"}))' \
  "$TEST_DIR/report.json"; }
total() { python3 -c 'import json,sys; print(sum(f["count"] for f in
  json.load(open(sys.argv[1]))["findings"] if f["kind"] == sys.argv[2]))' "$TEST_DIR/report.json" \
  "$1"; }

for kind in atomics waits graph capture in-place rounds; do
  bug=$kind; [ $kind = capture ] && bug=graph
  results=$(plain "$TEST_DIR/situations" $kind)
  code fp --fp-mode=full "$TEST_DIR/situations" $kind > /dev/null
  check "$kind: full mode finds it" is "$(errors)" "fp-div0:$(line $bug)"
  times=1; [ $bug = graph ] && times=3
  check "$kind: and counts it" is "$(total fp-div0)" $times
  # sums have no order
  [ $kind = atomics ] || check "$kind: same results, full" is "$(cat "$TEST_DIR/out")" "$results"
  code fp "$TEST_DIR/situations" $kind > /dev/null
  case $kind in
    # a small launch
    waits) check "waits: fast mode finds it" is "$(errors)" "fp-div0:$(line waits)" ;;
    graph|capture) check "$kind: fast mode finds it at a later launch" is "$(errors)" \
      "fp-div0:$(line graph)" ;;
    rounds)                                # later launches only read what the first made
      check "rounds: fast mode sees it" test "$(total fp-reached)" -gt 0
      check "rounds: and says what to do" has "$TEST_DIR/err" \
        "rounds(float*, int): NaN or infinity was seen, but not where it came from: --fp-mode=full"
      cp "$TEST_DIR/out" "$TEST_DIR/first"
      code fp --fp-rerun "$TEST_DIR/situations" rounds < /dev/null > /dev/null
      check "rounds: a second run finds it" is "$(errors) $(total fp-div0)" \
        "fp-div0:$(line rounds) 1"
      cp "$TEST_DIR/first" "$TEST_DIR/out" ;;
    *)                                     # the thread starts over
      check "$kind: fast mode finds it" is "$(errors) $(total fp-div0)" "fp-div0:$(line $kind) 1"
      check "$kind: and nothing else" is "$(grep -c "but not where it came from" "$TEST_DIR/err")" \
        0 ;;
  esac
  [ $kind = atomics ] || check "$kind: same results, fast" is "$(cat "$TEST_DIR/out")" "$results"
  for mode in full fast; do
    check "$kind: nothing in its twin, $mode" is \
      "$(code fp --fp-mode=$mode "$TEST_DIR/situations" $kind good)" 0
    check "$kind: no notes either, $mode" is "$(kinds)" ""
  done
done

# Infinity at home, in large launches: silent, and no reason for a second run.
for mode in full fast; do
  check "seeds: nothing to find, $mode" is \
    "$(code fp --fp-mode=$mode --fp-rerun "$TEST_DIR/seeds" < /dev/null)" 0
  check "seeds: no notes either, $mode" is "$(kinds)" ""
done

# Every thread makes a NaN: one place, counted exactly.
many=${FPCHECK_MANY:-400000}
for mode in full fast; do
  check "many: exit code, $mode" is "$(code fp --fp-mode=$mode "$TEST_DIR/many" "$many")" 99
  check "many: one place, $mode" is "$(errors)" "fp-nan:$(line_of bug "$t/many.cu")"
  check "many: counted exactly, $mode" is "$(total fp-nan)" "$many"
  echo "many $mode: $(grep -o 'launch: .*' "$TEST_DIR/err")"
done

# After a crash: on the virtual device as exact as ever, on a GPU what the channel was told
# (docs/channel.md).
left=$many; [ "$device" = gpu ] &&
  left=$(python3 -c \
  'import sys; n = int(sys.argv[1]); print(n >> n.bit_length() - 7 << n.bit_length() - 7)' "$many")
check "many: exit code when killed" is "$(code fp --fp-mode=full "$TEST_DIR/many" "$many" killed)" \
  99
check "many: what is left when killed" is "$(total fp-nan)" "$left"
[ "$device" = cpu ] || check "many: and it is said" has "$TEST_DIR/err" "up to 2% too low"

# Asynchronous products: the accumulators are looked at after the wait.
for mode in full fast; do
  check "async: no error, $mode" is "$(code fp --fp-mode=$mode "$TEST_DIR/async")" 0
  check "async: a note, $mode" is "$(python3 -c 'import json,sys; print(*[(f["line"], f["count"])
    for f in json.load(open(sys.argv[1]))["findings"] if f["kind"] == "fp-reached"])' \
    "$TEST_DIR/report.json")" "($(line_of bug "$t/async.cu"), 256)"
  check "async: results, $mode" is "$(cat "$TEST_DIR/out")" "inf inf"
  check "async: twin, $mode" is "$(code fp --fp-mode=$mode "$TEST_DIR/async" twin) $(kinds) $(cat \
    "$TEST_DIR/out")" "0  3200 3200"
done
