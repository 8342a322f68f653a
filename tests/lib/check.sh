# Sourced by test scripts: one result line for each check.
# check NAME COMMAND…: ok if the command succeeds
check() {
  local name=$1; shift
  if "$@"; then echo "ok $name"; else echo "FAIL $name: $*"; fi
}
# code COMMAND…: prints its exit code; its output is in $TEST_DIR/out and $TEST_DIR/err
code() { "$@" > "$TEST_DIR/out" 2> "$TEST_DIR/err"; echo $?; }
# wait_for COMMAND…: until it succeeds, a minute at most
wait_for() {
  local n
  for ((n = 0; n < 1200; n++)); do "$@" && return; sleep 0.05; done
}
# has FILE TEXT
has() { grep -qF -- "$2" "$1" || { echo "$1 lacks: $2"; cat "$1"; return 1; }; }
