#!/usr/bin/env bash
# quick: yes
# timeout: 600
# Every program of programs/ has one bug and, built with -DTWIN, none: the twin is silent. `tools:`
# runs others beside synccheck, `patience:` is its --hang-timeout. A GPU must say what the virtual
# device says.
set -u
cd "$ROOT" || exit 1
. tests/lib/programs.sh
need nvcc
need python3
export TEST_JOBS=${TEST_JOBS:-2}
seconds=${SYNCCHECK_SECONDS:-100}
one() {
  local twin tools patience
  tools=$(setting tools "$file")
  patience=$(setting patience "$file") patience=${patience:-3}
  for twin in "" -DTWIN; do
    mkdir -p "$d$twin"
    build "$file" "$d$twin/program" $twin || return
    run_tools "$d$twin" "${tools:-synccheck}" --hang-timeout="${patience%% *}" --hang-action=stop
  done
  judge "$name" "$file" "$d" "${tools:-synccheck}" --ignore=hang,launch-failure --any-exit
  judge "${name}_twin" "$file" "$d-DTWIN" "" --twin --ignore=hang,launch-failure
}
programs tests/synccheck/programs
