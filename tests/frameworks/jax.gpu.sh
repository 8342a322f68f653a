#!/usr/bin/env bash
# JAX on a real GPU, each tool by itself and all of them: the numbers of a plain run, no error. XLA
# chooses kernels by their time, which the tools change: the last digits may differ.
# TOOLS: which tools. Where it fails, PTX of kernels that a report of ours names, else of those with
# tensor copies, is printed.
set -u
folder=$(dirname "$0")
python3 -c 'import jax, sys; sys.exit(jax.devices()[0].platform != "gpu")' 2> /dev/null ||
  { echo "skip jax: there is no JAX with a GPU"; exit 0; }
export XLA_PYTHON_CLIENT_PREALLOCATE=false
python3 "$folder/models.py" jax > "$TEST_DIR/plain.out" 2> "$TEST_DIR/plain.log" ||
  { echo "FAIL jax: plain: $(tail -n 1 "$TEST_DIR/plain.log")"; exit 1; }

near() {  # FILE FILE
  python3 - "$1" "$2" << 'EOF'
import math, sys
plain, checked = ([float(word) for word in open(name).read().split()[1:]] for name in sys.argv[1:])
sys.exit(not plain or len(plain) != len(checked) or
         not all(math.isclose(x, y, rel_tol=1e-4) for x, y in zip(plain, checked)))
EOF
}
run() {  # TOOL
  WARPGRIND_CACHE_DIR=$TEST_DIR/cache.$1 timeout "${LIMIT:-150}" "$WARPGRIND" --device=gpu \
    --tool="$1" python3 "$folder/models.py" jax > "$TEST_DIR/$1.out" 2> "$TEST_DIR/$1.log"
  echo $? > "$TEST_DIR/$1.code"
}
show_kernels() {  # LOG CACHE
  local names files file
  names=$(grep -h '^==' "$1" | grep -ohE 'kernel [a-z_0-9]+fusion[a-z_0-9]*' | awk '{print $2}' |
    sort -u | head -n 2 | paste -sd'|')
  files=$(grep -lE "entry (${names:-.*})\b" "$2"/ptxas/*.ptx |
    xargs -r grep -lE 'wgmma|bulk|cp.async|ldmatrix')
  [ -n "$files" ] || return
  # shellcheck disable=SC2012,SC2086
  for file in $(ls -S $files | head -n 40); do
    echo "$file: $(grep -c wgmma "$file") wgmma, $(grep -c bulk.tensor "$file") tensor copies," \
      "$(grep -c cp.async.c "$file") cp.async, $(grep -c mbarrier "$file") mbarrier," \
      "$(grep -oE 'setmaxnreg|elect|cluster|brx|griddepcontrol' "$file" | sort -u | paste -sd,)"
  done
  # shellcheck disable=SC2012,SC2086
  for file in $(ls -Sr $files | head -n 2); do
    echo "--- $file"
    head -n "${LINES_OF_PTX:-500}" "$file" | grep -v '^ *//\|\.loc\|^ *$'
  done
}
tools=${TOOLS:-memcheck racecheck synccheck initcheck fpcheck all}
for tool in $tools; do run $tool & done
wait
for tool in $tools; do
  if [ "$(cat "$TEST_DIR/$tool.code")" = 0 ] && near "$TEST_DIR/plain.out" "$TEST_DIR/$tool.out"
  then
    echo "ok jax $tool: $(grep -h 'coverage' "$TEST_DIR/$tool.log" | head -n 1)"
  else
    echo "FAIL jax $tool: exit code $(cat "$TEST_DIR/$tool.code")"
    grep -h '^==' "$TEST_DIR/$tool.log" | grep -v 'not checked' | head -n 40
    grep -hE 'CUDA_ERROR' "$TEST_DIR/$tool.log" | head -n 3
    show_kernels "$TEST_DIR/$tool.log" "$TEST_DIR/cache.$tool"
  fi
done
