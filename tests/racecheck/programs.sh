#!/usr/bin/env bash
# timeout: 900
# tests/racecheck/programs/*.cu: `// race NAME` marks the accesses of one race. Every race must be found, at lines that are marked with its name on
# both sides, and nothing else. A program without marks is silent. Both print what they print without the tool.
set -u
cd "$ROOT" || exit 1
# shellcheck disable=SC2086
device=${RACECHECK_DEVICE:-cpu}
command -v nvcc > /dev/null || { echo "nvcc is not installed"; exit 77; }
for f in tests/racecheck/programs/${RACECHECK_ONLY:-*}.cu; do
  name=$(basename "$f" .cu) d=$TEST_DIR/$name arch=$(sed -n 's|^// arch: ||p' "$f")
  arch=${arch:-75}
  only=$(sed -n 's|^// device: ||p' "$f")
  [ -n "$only" ] && [ "$only" != "$device" ] && continue
  mkdir -p "$d"
  tests/lib/nvcc -w ${RACECHECK_NVCC:-} -g -O3 --extended-lambda -lineinfo -DARCH="$arch" -gencode "arch=compute_$arch,code=compute_$arch" -o "$d/program" "$f" > "$d/nvcc" 2>&1 || { cat "$d/nvcc"; echo "FAIL $name: nvcc"; continue; }
  timeout 120 "$WARPGRIND" --device="$device" --tool=none -q -- "$d/program" > "$d/none.out" 2> "$d/none.err"
  for tool in racecheck memcheck,racecheck "racecheck --race=full"; do
    [ -n "${RACECHECK_QUICK:-}" ] && [ "$tool" != racecheck ] && continue
    timeout 200 "$WARPGRIND" --device="$device" --tool=$tool --json="$d/report.json" -- "$d/program" > "$d/out" 2> "$d/err"; code=$?
    want=0; grep -Eq '// (race|host) ' "$f" && want=99
    python3 tests/racecheck/compare.py "$d/report.json" "$f" > "$d/wrong"
    if [ -s "$d/wrong" ]; then cat "$d/wrong"; tail -n 40 "$d/err"; echo "FAIL $name $tool: other findings"
    elif [ $code != $want ]; then tail -n 5 "$d/err"; echo "FAIL $name $tool: exit code $code, expected $want"
    elif ! cmp -s "$d/none.out" "$d/out"; then diff "$d/none.out" "$d/out" | head; echo "FAIL $name $tool: other output"
    else echo "ok $name $tool"; fi
  done
done
