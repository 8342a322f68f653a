#!/usr/bin/env bash
# quick: yes
# timeout: 600
# tests/initcheck/programs/*.cu: where values that were never written are used. All programs print
# what they print without the tool. With memcheck beside it the findings are the same, and
# memcheck's.
set -u
cd "$ROOT" || exit 1
. tests/lib/programs.sh
need nvcc
one() {
  local tools
  build "$file" "$d/program" -g -O3 || return
  run_plain "$d"
  for tools in initcheck memcheck,initcheck; do
    run_tools "$d" "$tools"
    judge "$name $tools" "$file" "$d" "$tools"
  done
}
programs tests/initcheck/programs
