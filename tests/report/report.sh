#!/usr/bin/env bash
# The text and JSON of a finding of every kind, from the same records each time. The process id is the only thing that changes.
set -u
cd "$ROOT" || exit 1
. tests/lib/check.sh
san=; [ "$SAN" = 0 ] || san="-fsanitize=address,undefined"
# shellcheck disable=SC2086
$CC -std=gnu11 -g -O1 -Wall -Wextra -Wno-unused-parameter $san -pthread -Isrc -Itests/channel -o "$TEST_DIR/fake" tests/channel/fake.c \
  "$BUILD"/obj/{base,ptx,ir,instrument,channel,where,session}/*.o "$BUILD/obj/probe/embedded.o" -lm -lrt -ldl || { echo "FAIL fake: does not compile"; exit 1; }
cd "$TEST_DIR" || exit 1
golden=$ROOT/tests/report
# Findings of the host and of the device may come in either order: sorted.
blocks() { python3 -c 'import re,sys; print("\n".join(sorted(re.sub(r"(?m)^==\d+== ?", "", open(sys.argv[1]).read()).split(" \n"))))' "$1"; }
same() {
  if [ "${BLESS:-0}" = 1 ]; then cp "$1" "$golden/$2"; echo "blessed $2"; fi
  diff -u "$golden/$2" "$1"
}
pretty() {
  python3 -c 'import json,sys
r = json.load(open(sys.argv[1]))
r["findings"].sort(key=lambda f: (f["kind"], f.get("line", 0)))
json.dump(r, sys.stdout, indent=1)' "$1" | sed 's/"process": [0-9]*/"process": 0/'
}

check exit_code      [ "$(code "$WARPGRIND" --device=cpu --tool=count --host-stacks=no --json=kinds.json -o run.wg ./fake kinds)" = 99 ]
cp err first
blocks first > kinds.text
check text           same kinds.text kinds.text
check text_prefix    [ "$(grep -cvE '^==[0-9]+== ' first)" = 0 ]
pretty kinds.json > kinds.pretty
check json           same kinds.pretty kinds.json
# every kind of the table is in the report
for kind in $(sed -n 's/^KIND([A-Z_0-9]*, *[0-9]*, *"\([a-z0-9-]*\)".*/\1/p' "$ROOT/src/probe/kinds.def"); do
  grep -q "($kind)" first && grep -q "\"kind\": \"$kind\"" kinds.pretty || echo "FAIL kind_$kind"
done
check kinds          [ "$(grep -c '"kind": "[a-z0-9-]*-\?[a-z0-9]*",$' kinds.pretty)" -ge 27 ]
# the same report again, from the run file
check again          [ "$(code "$WARPGRIND" report --json=again.json run.wg)" = 0 ]
check again_text     diff -u first err
check again_json     cmp kinds.json again.json
