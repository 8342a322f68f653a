#!/usr/bin/env bash
# timeout: 600
# Launches that hang, and their twins, which do not. `gpu: ends only when it is killed`: the command
# is interrupted there. HANG_STANDIN: the virtual device in the role of a GPU, which finds deadlocks
# by itself.
set -u
cd "$ROOT" || exit 1
. tests/lib/programs.sh
need nvcc
need python3
export TEST_JOBS=${TEST_JOBS:-2}

# run_hang DIR stop | interrupt
run_hang() {
  local before=(timeout 300)
  [ "$2" = stop ] || before=(timeout -s INT -k 20 8)
  # shellcheck disable=SC2046
  run "$1" "" "${before[@]}" "$WARPGRIND" --device="$device" --tool=synccheck --hang-timeout=2 \
    $(setting options "$file") --hang-action=stop --json="$1/report.json" "$1/program"
}

one() {
  local twin how=stop
  if [ "$device" = gpu ] && [ -n "$(setting gpu "$file")" ]; then
    [ -z "${HANG_STANDIN:-}" ] || { echo "skip $name: the stand-in finds a deadlock by itself"
      return; }
    how=interrupt
  fi
  for twin in "" -DTWIN; do
    mkdir -p "$d$twin"
    build "$file" "$d$twin/program" $twin || return
  done
  run_hang "$d" $how
  run_hang "$d-DTWIN" stop
  judge "$name" "$file" "$d" synccheck --any-exit
  judge "${name}_twin" "$file" "$d-DTWIN" synccheck --twin
}
programs tests/hang/programs
