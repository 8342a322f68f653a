#!/usr/bin/env bash
# timeout: 300
# A kernel that stores past the end, in programs that end in every way: the finding is in the
# report, and where the program does not die within the kernel all 1024 are counted.
# ENDS_DEVICE=gpu: on a real GPU (gpu.sh).
set -u
cd "$ROOT" || exit 1
device=${ENDS_DEVICE:-cpu}
command -v nvcc > /dev/null || { echo "nvcc is not installed"; exit 77; }
nvcc -w -O2 -lineinfo -gencode arch=compute_75,code=compute_75 -o "$TEST_DIR/program" \
  tests/channel/programs/bad_then.cu || { echo "FAIL build"; exit 1; }
line=$(grep -n 'p\[n + i\] = i' tests/channel/programs/bad_then.cu | cut -d: -f1)
for how in return _exit crash trap kill; do
  d=$TEST_DIR/$how; mkdir -p "$d"
  timeout -s KILL 60 "$WARPGRIND" --device="$device" --tool=memcheck --hang-timeout=0 \
    --json="$d/report.json" -- "$TEST_DIR/program" $how > "$d/out" 2> "$d/err"
  count=$(python3 -c 'import json,sys; print(sum(f["count"] for f in
    json.load(open(sys.argv[1]))["findings"] if f["kind"] == "oob-write" and f.get("line") ==
    int(sys.argv[2])))' "$d/report.json" "$line" 2> /dev/null)
  case $how in return | _exit | crash) want=1024 ;; *) want=1 ;; esac
  if [ "${count:-0}" -ge $want ] && [ "${count:-0}" -le 1024 ]; then
    echo "ok $how ($count)"
  else
    echo "FAIL $how: ${count:-no report} findings"; tail -n 20 "$d/err"
  fi
done
