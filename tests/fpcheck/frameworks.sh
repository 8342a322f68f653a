#!/usr/bin/env bash
# timeout: 300
# Python: a NaN that a kernel makes is reported with the Python line that launched it, kernels
# without PTX are named, results are the same and twins silent. Without a GPU by the driver's
# interface alone; on one (TEST_DEVICE=gpu) with each framework that can be imported.
. tests/fpcheck/lib.sh
# else JAX takes most of the memory, and other tests at the same time have none
export XLA_PYTHON_CLIENT_PREALLOCATE=false
command -v python3 > /dev/null || { echo "skip frameworks: python3 is not installed"; exit 0; }
errors() { python3 -c 'import json,sys; print(*sorted({f["kind"] for f in
  json.load(open(sys.argv[1]))["findings"] if f["severity"] == "error"}))' "$1"; }
# The first error's launch: is it this line?
launched_at() { awk '/ Error: /{ e = 1 } e && /  launched$/{ l = 1; next } l && / (at|by) /{ '\
'print; n++ } l && n == 8 { exit }' "$1" | grep -q "$2" || { echo "not launched at "\
"$2:"; cat "$1"; return 1; }; }
try() { # script
  local script=$t/scripts/$1.py d=$TEST_DIR/$1 needs
  needs=$(setting needs "$script")
  mkdir -p "$d"
  if [ -n "$needs" ] && [ "$device" = cpu ]; then echo "skip $1: needs a GPU"; return; fi
  if [ -n "$needs" ] && ! python3 -c "import $needs" 2> /dev/null; then
    echo "skip $1: python has no $needs"; return
  fi
  for how in bad good; do
    { timeout 100 "$WARPGRIND" --device="$device" --tool=fpcheck --json="$d/$how.json" \
      --log-file="$d/$how.log" python3 "$script" $how > "$d/$how.out" 2> "$d/$how.err"
      echo $? > "$d/$how.code"; } &
    timeout 100 "$WARPGRIND" --device="$device" --tool=none -q python3 "$script" $how > \
      "$d/$how.plain" 2> /dev/null &
  done
  wait
  for how in bad good; do check "$1, $how: same output" cmp "$d/$how.plain" "$d/$how.out"; done
  check "$1: exit code" is "$(cat "$d/bad.code") $(cat "$d/good.code")" "99 0"
  check "$1: a NaN" is "$(errors "$d/bad.json")" fp-nan
  if [ "$1" = jax_nan ] && ! grep -q "$1.py:" "$d/bad.log"
    then echo \
    "skip $1: the line that launched it: JAX launched it from a thread that runs no Python"
  else check "$1: the line that launched it" launched_at "$d/bad.log" \
    "$1.py:$(grep -n '# launches$' "$script" | cut -d: -f1)"; fi
  check "$1: nothing in its twin" is "$(errors "$d/good.json")" ""
  if grep -q '# bug' "$script"; then
    check "$1: the line that made it" has "$d/bad.log" "$1.py:$(grep -n '# bug' "$script" |
      cut -d: -f1)"
  fi
  if [ "$1" = triton_nan ]; then
    check "$1: kernels without PTX are checked too" has "$d/bad.json" '"uncovered":[]'
  fi
}
for name in driver triton_nan jax_nan cupy_nan; do try $name > "$TEST_DIR/$name.said" 2>&1 & done
wait
cat "$TEST_DIR"/*.said
