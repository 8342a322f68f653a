#!/usr/bin/env bash
# warpgrind debug: records, says what was found, serves the page. While it records, a line says how
# far it is; view --live has an address before there is a file.
set -u
cd "$ROOT" || exit 1
. tests/lib/check.sh
$CC -std=gnu11 -g -O1 -o "$TEST_DIR/sort" examples/merge_sort/merge_sort_host.c -ldl -lm || exit 1
ptx=$ROOT/examples/merge_sort/ptx/merge_sort.ptx
# await FILE PATTERN: until a line of the file fits, or a minute has passed
await() {
  local i
  for ((i = 0; i < 600; i++)); do grep -q "$2" "$1" && return 0; sleep 0.1; done
  return 1
}
cd "$TEST_DIR" || exit 1
"$WARPGRIND" debug --device=cpu --no-browser ./sort "$ptx" > out 2> err &
server=$!
if await out "^http://127.0.0.1:"; then
  check summary grep -q "ERROR SUMMARY" err
  check next_command grep -q "warpgrind view .*sort.wg" err
  check recorded [ -s sort.wg ]
elif grep -q "without" err; then
  echo "skip debug: the page was not built"
else
  cat err; echo "FAIL debug: no address"
fi
kill $server 2> /dev/null
wait $server 2> /dev/null
for name in sort.wg ./sort.wg; do  # as if it were a program
  "$WARPGRIND" $name > run_file.err 2>&1
  check "run_file_${name%%s*}" grep -q "To look at it: warpgrind view $name" run_file.err
done
check report_names_it grep -q "warpgrind view sort.wg" <("$WARPGRIND" report sort.wg 2>&1)
"$WARPGRIND" view --live --no-browser nothing.wg > live 2> live.err &
server=$!
if await live "^http://127.0.0.1:"; then echo "ok live_address"
elif grep -q "without" live.err; then echo "skip live: the page was not built"
else cat live.err; echo "FAIL live_address"; fi
kill $server 2> /dev/null
wait $server 2> /dev/null
# A program that takes longer than the first line.
WARPGRIND_PROGRESS=1 "$WARPGRIND" --device=cpu --workers=1 --tool=none --record -o slow.wg \
  bash -c "./sort '$ptx' > /dev/null; sleep 2.5; exit 0" > /dev/null 2> slow.err
check progress grep -q "recording: .* million operations, .* GB, .* million a second" slow.err
