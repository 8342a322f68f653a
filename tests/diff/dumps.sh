#!/usr/bin/env bash
# --dump-buffers, and warpgrind diff where contents are known: which elements, by how much.
# timeout: 600
set -u
. tests/diff/lib.sh
built steps streams graph || { echo "FAIL build"; exit 1; }
D=$TEST_DIR/dumps
rm -rf "$D"; mkdir -p "$D"
dumped() {
  local file=$1 when=$2; shift 2; OPTIONS="--dump-buffers=$D/${file%.wg}$when" hashed "$file" "$@"
}
files() { (cd "$D/$1" && ls -A | tr '\n' ' '); }
# Names of buffers come from the host's source; a runtime that is built from source itself hides
# them.
first_of() { ls "$D/$1" | grep "\.$2\.txt$" | head -1; }

# On a GPU a variable is known when its kernel is first used.
complete() {
  [ "$(ls "$D/$1" | grep -c '\.000008\.txt$')" = 4 ] &&
    [ "$(ls "$D/$1" | grep -v counter | wc -l)" = 24 ]
}
dumped plain.wg "" steps && complete plain && [ "$(ls -A "$D/plain" | grep -c '^\.')" = 0 ]
  result "all that is allocated, behind every launch"
dumped w.wg ,written,launch=2 steps && [ "$(ls "$D/w" | wc -l)" = 1 ] && y=$D/w/$(files w) &&
  y=${y% } && [ "$(wc -l < "$y")" = 1000 ] && [ "$(sed -n '1p;3p;1000p' "$y" | tr '\n' ' ')" = \
  "1 4 1499.5 " ]; result "one element to a line"
if [ -z "${DIFF_NVCC:-}" ]; then
  [ "$(files w)" = "y.000002.txt " ]; result "named as in the source"
fi
dumped every.wg ,written,every=3 steps &&
  [ "$(ls "$D/every" | sed 's/.*\.\([0-9]*\)\.txt/\1/' | sort | tr '\n' ' ')" = "000003 000006 " ]
  result "every third launch"
dumped kernel.wg ',written,kernel=^_Z7squares|count' steps &&
  [ "$(ls "$D/kernel" | sed 's/.*\.\([0-9]*\)\.txt/\1/' | sort | tr '\n' ' ')" = \
  "000003 000005 000007 000008 " ]; result "chosen kernels"
dumped last.wg ,last steps && [ "$(ls "$D/last" | wc -l)" = 4 ] &&
  [ "$(ls "$D/last" | grep -c '\.000008\.txt$')" = 4 ] &&
  [ "$(cat "$D/last/counter.000008.txt" | tr '\n' ' ')" = "249 249 249 249 " -o \
  "$(cat "$D/last/counter.000008.txt" | wc -l)" = 4 ]; result "the last launch"
dumped binary.wg ,written,binary,launch=3 steps &&
  [ "$(ls -l "$D/binary" | awk 'NR > 1 {print $5}')" = 8000 ]; result "binary"
dumped graph.wg ,written graph && [ "$(ls "$D/graph" | grep -c graph)" = 6 ] &&
  [ "$(ls "$D/graph" | wc -l)" = 9 ]; result "graphs, and memory of pools"
dumped streams.wg "" streams && [ "$(ask streams.wg "SELECT count(DISTINCT allocation) FROM
  buffer_dump WHERE state LIKE 'another stream%'")" -ge 1 ]; result \
  "a buffer that another stream writes is named"
timeout 60 "$WARPGRIND" -q --device="$DIFF_DEVICE" --dump-buffers="$D/alone" "$TEST_DIR/steps" > \
  "$TEST_DIR/said" 2>&1 && complete alone; result "without a run file"

# Nothing is overwritten, and what cannot be written is said.
timeout 60 "$WARPGRIND" --device="$DIFF_DEVICE" --dump-buffers="$D/plain" "$TEST_DIR/steps" > \
  "$TEST_DIR/said" 2>&1; [ $? = 125 ] && said "is not empty, and nothing in it is overwritten"
  result "a folder with files in it"
"$WARPGRIND" --dump-buffers="$D/x,often" "$TEST_DIR/steps" > "$TEST_DIR/said" 2>&1; [ $? = 125 ] &&
  said "often is not understood"; result "words that mean nothing"
if [ "$DIFF_DEVICE" = cpu ]; then                 # NVIDIA's driver makes files of its own
timeout 60 "$WARPGRIND" --device=cpu --dump-buffers="$D/small,binary" bash -c \
  "ulimit -f 6; exec $TEST_DIR/steps" > "$TEST_DIR/limit" 2>&1; echo $? >> "$TEST_DIR/limit"
grep -q "dump-buffers: .*/small cannot be written: File too large" "$TEST_DIR/limit" &&
  grep -q "^2.2485e+06" "$TEST_DIR/limit" && [ "$(tail -1 "$TEST_DIR/limit")" = 0 ]
  result "no room: said, and the program goes on"
fi

# Elements.
dumped a.wg ,written steps && dumped c.wg ,written steps change=1,417 && compared 1 a.wg c.wg &&
  said "launch 4 of scale(" && said "1 of 1000 elements (f32) differ" &&
  said "[417] = 626.5 and 626.500061" && said "1 ULP"; result "one element, by one ULP"
dumped cb.wg ,written,binary steps change=1,417 && compared 1 a.wg cb.wg &&
  said "[417] = 626.5 and 626.500061"; result "text and binary"
compared 1 a.wg c.wg --tolerance=1ulp && said "launch 5 of squares(" &&
  not_said "launch 4 of scale("; result "a tolerance in ULP"
compared 0 a.wg c.wg --tolerance=3e-7rel && said "2 by the rules"; result "a relative tolerance"
compared 1 a.wg c.wg --tolerance=0.05abs && said "launch 5" &&
  compared 0 a.wg c.wg --tolerance=0.1abs; result "an absolute tolerance"
dumped n.wg ,written steps nan && dumped p.wg ,written steps payload && compared 0 n.wg p.wg &&
  compared 1 n.wg p.wg --nan=bits && said "nan:0x7fc00123" && compared 1 a.wg n.wg &&
  said "with NaN" && compared 1 a.wg n.wg --tolerance=1e30abs; result "NaN"
dumped s.wg ,written steps shuffle && compared 1 a.wg s.wg && said "998 of 1000 elements" &&
  compared 0 a.wg s.wg --unordered && compared 1 c.wg s.wg --unordered && said "1 of 1000 elements"
  result "sorted"
compared 1 a.wg c.wg "--json=$TEST_DIR/d.json" --elements=1 && python3 - "$TEST_DIR/d.json" \
  <<'PY'; result "elements as JSON"
import json, sys
b = json.load(open(sys.argv[1]))["differences"][0]["buffers"][0]
assert (b["different_elements"], b["first_element"], b["most_ulps"]) == (1, 417, 1), b
assert b["shown"] == [{"index": 417, "a": "626.5", "b": "626.500061", "ulps": 1}], b
PY
f=$D/c/$(ls "$D/c" | grep '\.000004\.txt$'); sed -i '10s/.*/hello/' "$f"; compared 1 a.wg c.wg &&
  said "line 10 of" && said "is no element of it"; result "a damaged dump"
rm "$f"; compared 1 a.wg c.wg && said "is not there any more"; result "a dump that is gone"

# Recorded runs know what buffers held, with hashes beside or without.
recorded() {
  local file=$1; shift; timeout 120 "$WARPGRIND" -q --device="$DIFF_DEVICE" --record $OPTIONS -o \
    "$TEST_DIR/$file" "$@" > "$TEST_DIR/$file.out" 2>&1 || { cat "$TEST_DIR/$file.out"; return 1; }
}
OPTIONS=--hash recorded r1.wg "$TEST_DIR/steps" && OPTIONS=--hash recorded r2.wg "$TEST_DIR/steps" \
  change=1,417 && compared 1 r1.wg r2.wg && said "launch 4 of scale(" &&
  said "[417] = 626.5 and 626.500061" && compared 0 r1.wg r1.wg; result "recorded, with hashes"
OPTIONS= recorded q1.wg "$TEST_DIR/steps" && OPTIONS= recorded q2.wg "$TEST_DIR/steps" \
  change=1,417 && compared 1 q1.wg q2.wg && said "launch 4 of scale(" &&
  said "[417] = 626.5 and 626.500061" && compared 0 q1.wg q1.wg; result "recorded"
