# Sourced by the tests of this folder: a recorded run of an example, and a server for it.
# record NAME [options…]: examples/NAME, recorded into $TEST_DIR/NAME.wg
record() {
  local name=$1 program=$TEST_DIR/$1 code=0; shift
  if command -v nvcc > /dev/null 2>&1; then
    tests/lib/nvcc -w -g -O3 -lineinfo -arch=compute_75 -o "$program" "examples/$name/$name.cu" > \
      "$TEST_DIR/nvcc.log" 2>&1 || { cat "$TEST_DIR/nvcc.log"; echo "FAIL $name: nvcc"; return 1; }
    set -- "$@" "$program"
  elif [ -e "examples/$name/${name}_host.c" ]; then
    $CC -std=gnu11 -g -O1 -o "$program" "examples/$name/${name}_host.c" -ldl -lm ||
      { echo "FAIL $name: cc"; return 1; }
    set -- "$@" "$program" "examples/$name/ptx/$name.ptx"
  else
    echo "skip $name: nvcc is not installed"; return 77
  fi
  "$WARPGRIND" --device="${VIEW_DEVICE:-cpu}" --workers=1 --record -q -o "$TEST_DIR/$name.wg" "$@" \
    > "$TEST_DIR/$name.out" 2> "$TEST_DIR/$name.err" || code=$?
  [ $code = 0 ] || [ $code = 99 ] || { cat "$TEST_DIR/$name.err"
    echo "FAIL $name: recording ended with code $code"; return 1; }
}
# serve FILE [options…]: sets URL and SERVER; end_server ends it
serve() {
  local file=$1; shift
  : > "$TEST_DIR/url"
  "$WARPGRIND" view --no-browser "$@" "$file" > "$TEST_DIR/url" 2> "$TEST_DIR/server.err" &
  SERVER=$!
  local i
  for ((i = 0; i < 1200; i++)); do
    URL=$(head -n 1 "$TEST_DIR/url")
    [ -n "$URL" ] && return 0
    kill -0 $SERVER 2> /dev/null || break
    sleep 0.05
  done
  cat "$TEST_DIR/server.err"; echo "FAIL server: it does not start"
  return 1
}
end_server() { kill "$SERVER" 2> /dev/null || true; wait "$SERVER" || true; }
