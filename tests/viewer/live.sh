#!/usr/bin/env bash
# timeout: 300
# wg_watch while the program runs: the page shows each launch when it has come.
set -u
cd "$ROOT" || exit 1
for program in node chromium nvcc; do
  command -v $program > /dev/null || { echo "$program is not installed"; exit 77; }
done
tests/lib/nvcc -w -O3 -lineinfo -Iinclude -arch=compute_75 -o "$TEST_DIR/watch" \
  tests/record/programs/watch.cu > "$TEST_DIR/nvcc.log" 2>&1 || { cat "$TEST_DIR/nvcc.log"
  echo "FAIL watch: nvcc"; exit 1; }
mkdir -p "$TEST_DIR/go"
timeout -k 5 200 "$WARPGRIND" --device=cpu --tool=none --record -q -o "$TEST_DIR/watch.wg" \
  "$TEST_DIR/watch" "$TEST_DIR/go" > "$TEST_DIR/watch.out" 2> "$TEST_DIR/watch.err" &
run=$!
timeout -k 5 250 "$WARPGRIND" view --live --no-browser "$TEST_DIR/watch.wg" > "$TEST_DIR/url" 2> \
  "$TEST_DIR/server.err" &
server=$!
for ((i = 0; i < 1200; i++)); do
  URL=$(head -n 1 "$TEST_DIR/url" 2> /dev/null)
  [ -n "$URL" ] && break
  kill -0 $server 2> /dev/null || break
  sleep 0.05
done
# Who forgets --live gets the same while the program runs, and does not keep the file from being put
# together at the end.
# A file that has been made a moment ago has nothing in it yet: then it is opened again.
for ((again = 0; again < 50; again++)); do
  timeout -k 5 250 "$WARPGRIND" view --no-browser "$TEST_DIR/watch.wg" > "$TEST_DIR/url2" 2> \
    "$TEST_DIR/err2" &
  second=$!
  for ((i = 0; i < 1200; i++)); do
    [ -s "$TEST_DIR/url2" ] || ! kill -0 "$second" 2> /dev/null && break
    sleep 0.05
  done
  [ -s "$TEST_DIR/url2" ] || ! grep -q "was not finished" "$TEST_DIR/err2" && break
done
python3 -c 'import json, sys, urllib.request; assert json.load(urllib.request.urlopen(sys.argv[1] +
  "api/run"))["live"]' "$(head -n 1 "$TEST_DIR/url2")" && grep -q "the program still runs" \
  "$TEST_DIR/err2" && echo "ok without_live" || echo "FAIL without_live"
if [ -n "$URL" ]; then
  node tests/viewer/live.mjs "$URL" "$TEST_DIR/go" "$TEST_DIR/live.png"
else
  cat "$TEST_DIR/server.err"; echo "FAIL server: it does not start"
fi
: > "$TEST_DIR/go/1"; : > "$TEST_DIR/go/2"
wait $run || { cat "$TEST_DIR/watch.err"; echo "FAIL recording"; }
if [ -e "$TEST_DIR/watch.wg-wal" ]; then
  echo "FAIL one_file: watch.wg-wal is left"
else
  echo "ok one_file"
fi
kill "$second" 2> /dev/null
wait "$second" 2> /dev/null
kill $server 2> /dev/null
wait $server 2> /dev/null
true
