#!/usr/bin/env bash
# --hash and warpgrind diff: the same runs are equal, and one changed element is found at its
# launch. DIFF_DEVICE=gpu: in GPU mode.
# timeout: 600
set -u
. tests/diff/lib.sh
built steps streams graph || { echo "FAIL build"; exit 1; }

hashed a.wg steps && hashed again.wg steps && compared 0 a.wg again.wg &&
  said "8 launches and 8 buffers compared: 8 are the same, 0 differ"; result "two runs are the same"

hashed changed.wg steps change=1,417 && compared 1 a.wg changed.wg &&
  said "the first launch whose outputs differ is launch 4 of scale(" &&
  said "1 more launch differs (--all lists it)"; result "one changed element"
compared 1 a.wg changed.wg --all && said "launch 4 of scale(" && said "launch 5 of squares("
  result "all that differ"
compared 1 changed.wg a.wg "--json=$TEST_DIR/d.json" && python3 - "$TEST_DIR/d.json" \
  <<'PY'; result "as JSON"
import json, sys
d = json.load(open(sys.argv[1]))
assert d["exit_code"] == 1 and d["different_buffers"] == 2, d
first = d["differences"][0]
assert first["launch"] == 4 and first["kernel"].startswith("scale("), first
assert [b["outcome"] for b in first["buffers"]] == ["different"], first
assert first["buffers"][0]["type"] == "f32", first
PY

"$WARPGRIND" diff --json=- "$TEST_DIR/a.wg" "$TEST_DIR/changed.wg" 2> "$TEST_DIR/said" |
  python3 -c 'import json, sys; assert json.load(sys.stdin)["exit_code"] == 1' &&
  said "1 more launch differs"; result "JSON alone on standard output"

hashed shuffled.wg steps shuffle && compared 1 a.wg shuffled.wg && said "launch 1 of fill(" &&
  said "its elements are the same in another order" && compared 0 a.wg shuffled.wg --unordered &&
  compared 1 a.wg changed.wg && not_said "in another order"
  result "the same elements in another order"

# Types and sizes: what the kernel's parameters say.
[ "$(ask a.wg "SELECT group_concat(type || element_bytes || ' ' || bytes, ';') FROM buffer_hash
  WHERE step < 4")" = "f324 4000;f324 4000;f648 8000" ]; result "types of elements"
[ "$(ask a.wg "SELECT name, bytes FROM buffer_hash h JOIN allocation a ON a.id = h.allocation WHERE
  name IS NOT NULL")" = "counter	16" ]; result "a variable of the program"

hashed streams.wg streams &&
  [ "$(ask streams.wg "SELECT count(*), count(state) FROM buffer_hash")" = "4	2" ] &&
  compared 0 streams.wg streams.wg &&
    said "was not compared: another stream may have been writing to it"
    result "two streams write to one buffer"
hashed ordered.wg streams ordered &&
  [ "$(ask ordered.wg "SELECT count(*), count(state) FROM buffer_hash")" = "4	0" ]
  result "an event orders them"
hashed copies.wg streams copy &&
  [ "$(ask copies.wg "SELECT count(*), count(state) FROM buffer_hash")" = "2	1" ]
  result "a set in another stream"

hashed graph.wg graph && hashed other.wg graph x && [ "$(ask graph.wg "SELECT count(DISTINCT step),
  count(DISTINCT nullif(graph_launch, 0)), count(state) FROM buffer_hash")" = "6	3	0" ] &&
  compared 1 graph.wg other.wg && said "the first launch whose outputs differ is graph launch 2" &&
    said "    launched at "; result "a captured graph"
grep -q "^2 nodes, 6" "$TEST_DIR/graph.wg.out" && grep -q "^2 nodes, 22" "$TEST_DIR/other.wg.out"
  result "the program sees its own graph"
compared 1 a.wg graph.wg && said "have no counterpart"; result "runs of two programs"

OPTIONS="--tool=memcheck" hashed checked.wg steps && compared 0 a.wg checked.wg
  result "beside memcheck"
OPTIONS="--kernel=squares" hashed some.wg steps &&
  [ "$(ask some.wg "SELECT count(*) FROM buffer_hash")" = 3 ]; result "of chosen kernels"

# Files that cannot be compared.
compared 2 a.wg none.wg && said "there is no such file"; result "a missing file"
echo hello > "$TEST_DIR/text.wg"; compared 2 a.wg text.wg && said "is not a run file"
  result "a file of another kind"
head -c 30000 "$TEST_DIR/a.wg" > "$TEST_DIR/cut.wg"; compared 2 a.wg cut.wg; result "a damaged file"
timeout 60 "$WARPGRIND" -q --device="$DIFF_DEVICE" --tool=none -o "$TEST_DIR/plain.wg" \
  "$TEST_DIR/steps" > /dev/null 2>&1; compared 2 a.wg plain.wg &&
  said "it has no hashes of buffers"; result "a run without hashes"
compared 2 a.wg a.wg --tolerance=4 && said "--tolerance=4: expected numbers"
  result "a tolerance that is none"
"$WARPGRIND" --hash "$TEST_DIR/steps" > "$TEST_DIR/said" 2>&1; [ $? = 125 ] && said "Add -o FILE"
  result "hashes without a run file"
