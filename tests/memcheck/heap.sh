#!/usr/bin/env bash
# timeout: 900
# tests/memcheck/heap/*.cu: allocations and frees. Lines of a program: `finds: KIND COUNT` for each place of its report (finds-cpu, finds-gpu:
# on that device only), `says: TEXT` a piece of the report, `never: TEXT` what it does not say, `options:`. A program without `finds` must be silent, and all must print what
# they print without the tool, unless the tool prevents what a GPU would do. `runtime: ours`: not with NVIDIA's. HEAP_DEVICE=gpu: through the driver proxy (tests/gpumode/heap.sh).
set -u
cd "$ROOT" || exit 1
device=${HEAP_DEVICE:-cpu}
command -v nvcc > /dev/null || { echo "nvcc is not installed"; exit 77; }
for f in tests/memcheck/heap/${HEAP_ONLY:-*}.cu; do
  name=$(basename "$f" .cu) d=$TEST_DIR/$name
  grep -q "^// runtime: ours" "$f" && [ "$device" = gpu ] && [ -z "${WARPGRIND_REAL_DRIVER:-}" ] && continue
  lines() { sed -n "s#^// $1: ##p" "$f"; }
  mkdir -p "$d"
  # shellcheck disable=SC2046
  tests/lib/nvcc -w -g -O2 -lineinfo ${HEAP_NVCC:-} -gencode arch=compute_75,code=compute_75 $(lines nvcc) -o "$d/program" "$f" > "$d/nvcc" 2>&1 || { cat "$d/nvcc"; echo "FAIL $name: nvcc"; continue; }
  "$WARPGRIND" --device="$device" --tool=none -q -- "$d/program" > "$d/none.out" 2> "$d/none.err"; plain=$?
  # shellcheck disable=SC2046
  "$WARPGRIND" --device="$device" --tool=memcheck $(lines options) --json="$d/report.json" -- "$d/program" > "$d/out" 2> "$d/err"; code=$?
  { lines finds; lines "finds-$device"; } | sort > "$d/want"
  python3 - "$d/report.json" > "$d/got" << 'P'
import json, sys
for f in json.load(open(sys.argv[1]))["findings"]: print(f["kind"], f["count"])
P
  sort -o "$d/got" "$d/got"
  prevents() { [ -s "$d/want" ] && [ "$device" = gpu ] && [ -z "${WARPGRIND_REAL_DRIVER:-}" ]; }
  prevents && plain=$code
  want=$plain; grep -qv '^leak' "$d/want" && want=99
  bad=
  while IFS= read -r line; do grep -qF -- "$line" "$d/err" || bad="the report lacks: $line"; done < <(lines says)
  while IFS= read -r line; do ! grep -qF -- "$line" "$d/err" || bad="the report says: $line"; done < <(lines never)
  if ! diff "$d/want" "$d/got" > "$d/diff"; then cat "$d/diff"; tail -n 40 "$d/err"; echo "FAIL $name: other findings"
  elif [ $code != $want ]; then tail -n 5 "$d/err"; echo "FAIL $name: exit code $code, expected $want"
  elif [ "$bad" ]; then cat "$d/err"; echo "FAIL $name: $bad"
  elif ! cmp -s "$d/none.out" "$d/out" && ! prevents; then diff "$d/none.out" "$d/out" | head; echo "FAIL $name: other output"
  else echo "ok $name"; fi
done
