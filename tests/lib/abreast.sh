# Sourced by scripts for a real GPU: commands side by side, some at a time (ABREAST). Each prints
# its results, and how long it took, when it ends. abreast NAME COMMAND…: with a TEST_DIR of its own
# in $top
abreast() {
  local name=$1; shift
  while [ "$(jobs -rp | wc -l)" -ge "${ABREAST:-12}" ]; do wait -n; done
  mkdir -p "$top/$name"
  {
    began=$SECONDS
    TEST_DIR=$top/$name "$@" > "$top/$name/output" 2>&1
    echo "    $name: $((SECONDS - began)) s" >> "$top/$name/output"
    flock "$top" cat "$top/$name/output"
  } &
}
