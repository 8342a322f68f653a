#!/usr/bin/env bash
# On the real GPU: the same answers as on the virtual device, the same hashes where the program
# computes the same, and what --hash costs.
export DIFF_DEVICE=gpu GOLD_DEVICES=cpu,gpu
top=$TEST_DIR
. tests/diff/lib.sh
mkdir -p "$top/built"
for p in steps streams graph planes golden sweep loop; do (TEST_DIR=$top/built built $p) & done
wait
export DIFF_BUILT=$top/built
for script in hashes dumps gold some; do
  mkdir -p "$top/$script"
  TEST_DIR=$top/$script bash "$(dirname "$0")/$script.sh" > "$top/$script/output" 2>&1 &
done
wait
cat "$top"/*/output
built steps graph planes sweep && hashed gpu.wg steps && hashed gpu_graph.wg graph &&
  hashed gpu_planes.wg planes && DIFF_DEVICE=cpu hashed cpu.wg steps &&
  DIFF_DEVICE=cpu hashed cpu_graph.wg graph &&
  DIFF_DEVICE=cpu hashed cpu_planes.wg planes; result "both devices"
compared 0 gpu.wg cpu.wg; result "hashes of both devices are the same"
compared 0 gpu_graph.wg cpu_graph.wg; result "hashes of a graph on both devices are the same"
compared 1 cpu_planes.wg gpu_planes.wg && said "17 are the same, 1 differ" &&
  said "launch 9 of through("; result "parts of buffers"
# Time of the launches themselves, as the program measures it, best of three.
best() { for _ in 1 2 3; do "$@" 2> /dev/null; done | sed -n 's/^ms //p' | sort -n | head -1; }
for work in small large; do
  plain=$(best "$TEST_DIR/sweep" "$work")
  hashing=$(best "$WARPGRIND" -q --device=gpu --hash -o "$TEST_DIR/sweep.wg" "$TEST_DIR/sweep" \
    "$work")
  echo "sweep $work: plain $plain ms, --hash $hashing ms"
  [ -n "$plain" ] && [ -n "$hashing" ]
    result "--hash was measured, $work launches: $plain ms plain, $hashing ms with hashes"
done
