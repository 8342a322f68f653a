#!/usr/bin/env bash
# What count says is the same on a real GPU and on the virtual one: lines against their formulas,
# and every line of the correct examples.
set -u
cd "$ROOT" || exit 1
# kernels that launch kernels are not covered on a GPU
COUNT_DEVICE=gpu COUNT_PROGRAMS=traffic bash tests/count/programs.sh
one() {
  local d=$TEST_DIR/$1 device
  mkdir -p "$d"
  nvcc -w -O3 -lineinfo -gencode arch=compute_75,code=compute_75 -o "$d/program" \
    "examples/${1%_ok}/$1.cu" > "$d/nvcc" 2>&1 || { cat "$d/nvcc"; echo "FAIL $1: nvcc"; return; }
  for device in cpu gpu; do
    timeout 60 "$WARPGRIND" --device=$device --tool=count --json="$d/$device.json" \
      --log-file="$d/log" -- "$d/program" > "$d/out" 2>&1 || { echo "FAIL $1: exit code $?"; return
      }
    python3 -c 'import json,sys; [print(json.dumps({k: v for k, v in r.items() if "warp" not in k},
      sort_keys=True)) for r in json.load(open(sys.argv[1]))["counts"]]' "$d/$device.json" |
      sort > "$d/$device"
  done
  if [ -s "$d/cpu" ] && diff "$d/cpu" "$d/gpu" > "$d/diff"; then
    echo "ok $1"
  else
    head -n 6 "$d/diff"; echo "FAIL $1: other counts"
  fi
}
for f in examples/*/*_ok.cu; do { text=$(one "$(basename "$f" .cu)" 2>&1); printf '%s\n' "$text"
  } & done
wait
