#!/usr/bin/env bash
# timeout: 1800
# Races of a recorded run are those that racecheck finds: all programs of tests/racecheck, each recorded with racecheck running along, and alone. races_differ.txt has what a recording cannot
# know, and why.
set -u
cd "$ROOT" || exit 1
device=${TRACE_DEVICE:-cpu}
command -v nvcc > /dev/null || { echo "nvcc is not installed"; exit 77; }
one() {
  local f=$1 name d arch only differ tool code
  name=$(basename "$f" .cu) d=$TEST_DIR/$name arch=$(sed -n 's|^// arch: ||p' "$f") only=$(sed -n 's|^// device: ||p' "$f")
  arch=${arch:-${TRACE_ARCH:-75}}
  [ -n "$only" ] && [ "$only" != "$device" ] && return
  mapfile -t differ < <(awk -v p="$name" '$1 == p { n = split($2, names, ","); $1 = $2 = ""; for (i = 1; i <= n; i++) print names[i] "=" $0 }' tests/trace/races_differ.txt)
  mkdir -p "$d"
  # shellcheck disable=SC2086
  tests/lib/nvcc -w ${RACES_NVCC:-} -g -O3 --extended-lambda -lineinfo -DARCH="$arch" -gencode "arch=compute_$arch,code=compute_$arch" -o "$d/program" "$f" > "$d/nvcc" 2>&1 || { cat "$d/nvcc"; echo "FAIL $name: nvcc"; return; }
  for tool in racecheck none; do
    rm -f "$d/run.wg"
    timeout 200 "$WARPGRIND" --device="$device" --tool=$tool --record -o "$d/run.wg" "$d/program" > "$d/out" 2>&1; code=$?
    if [ $code != 0 ] && [ $code != 99 ]; then tail -n 5 "$d/out"; echo "FAIL $name $tool: does not run"; continue; fi
    python3 tests/trace/races.py "$WARPGRIND" "$d/run.wg" "$f" "${differ[@]}" > "$d/wrong" 2>&1
    if [ -s "$d/wrong" ]; then cat "$d/wrong"; echo "FAIL $name $tool: other races"; else echo "ok $name $tool"; fi
  done
}
n=0
set -f
for only in ${RACES_ONLY:-*}; do
  set +f
  for f in tests/racecheck/programs/$only.cu; do
    { (one "$f") || echo "FAIL $(basename "$f" .cu): this test itself fails"; } &
    n=$((n + 1))
    [ $((n % 2)) != 0 ] || wait
  done
done
wait
