#!/usr/bin/env bash
# quick: yes
# The text and JSON of a finding of every kind, from the same records each time. The process id is
# the only thing that changes.
set -u
cd "$ROOT" || exit 1
. tests/lib/check.sh
. tests/lib/session.sh
san=; [ "$SAN" = 0 ] || san="-fsanitize=address,undefined"
# shellcheck disable=SC2086
$CC -std=gnu11 -g -O1 -Wall -Wextra -Wno-unused-parameter $san -pthread -Isrc -Itests/channel -o \
  "$TEST_DIR/fake" tests/channel/fake.c \
  "${SESSION_OBJS[@]}" || { echo "FAIL fake: does not compile"; exit 1; }
cd "$TEST_DIR" || exit 1
golden=$ROOT/tests/report
# Findings of the host and of the device may come in either order: sorted.
blocks() { python3 -c 'import re,sys; print("\n".join(sorted(re.sub(r"(?m)^==\d+== ?", "",
  open(sys.argv[1]).read()).split(" \n"))))' "$1"; }
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

check exit_code      [ "$(code "$WARPGRIND" --device=cpu --tool=count --host-stacks=no \
  --json=kinds.json -o run.wg ./fake kinds)" = 99 ]
cp err first
blocks first > kinds.text
check text           same kinds.text kinds.text
check text_prefix    [ "$(grep -cvE '^==[0-9]+== ' first)" = 0 ]
pretty kinds.json > kinds.pretty
check json           same kinds.pretty kinds.json
# every kind of the table is in the report
for kind in $(sed -n 's/^KIND([A-Z_0-9]*, *[0-9]*, *"\([a-z0-9-]*\)".*/\1/p' \
  "$ROOT"/src/*/kinds.def "$ROOT"/src/tools/*/kinds.def); do
  [ "$kind" != uninit-store ] || continue                # explains other findings
  grep -q "($kind)" first && grep -q "\"kind\": \"$kind\"" kinds.pretty || echo "FAIL kind_$kind"
done
check kinds          [ "$(grep -c '"kind": "[a-z0-9-]*-\?[a-z0-9]*",$' kinds.pretty)" -ge 27 ]
# the same report again, from the run file
check again          [ "$(code "$WARPGRIND" report --json=again.json run.wg)" = 0 ]
check again_text     diff -u first err
check again_json     cmp kinds.json again.json

# SARIF and JUnit: the same each time, and as their readers want them
normal() { sed -E "s#$PWD#/folder#g; s#\"(processId|process)\": [0-9]+#\"\1\": 0#; "\
"s#(name=\"process\" value=\")[0-9]+#\10#" "$1"; }
"$WARPGRIND" report --sarif=kinds.sarif --junit=kinds.xml run.wg 2> /dev/null
check sarif_valid    python3 "$golden/check_sarif.py" kinds.sarif
check junit_valid    python3 "$golden/check_junit.py" kinds.xml
python3 -c 'import json,sys; r = json.load(open("kinds.sarif")); d = r["runs"][0]["tool"]["driver"]
d["rules"] = d["rules"][:2]; r["runs"][0]["results"].sort(key=lambda x: (x["ruleId"],
  json.dumps(x["locations"]))); json.dump(r, sys.stdout, indent=1)' > kinds.sorted
normal kinds.sorted > kinds.sarif.normal
check sarif_rules    [ "$(python3 -c 'import json
print(len(json.load(open("kinds.sarif"))["runs"][0]["tool"]["driver"]["rules"]))')" = "$(cat \
  "$ROOT"/src/*/kinds.def "$ROOT"/src/tools/*/kinds.def | grep -c '^KIND(')" ]
check sarif          same kinds.sarif.normal kinds.sarif
python3 - > kinds.cases << 'P'
import xml.etree.ElementTree as t
for s in t.parse("kinds.xml").getroot():
    for c in s.iter("testcase"):
        print(c.get("name"), *[e.tag for e in c])
        for e in c:
            if e.text: print("\n".join(sorted(l for l in e.text.split("\n") if l.strip())))
P
check junit          same kinds.cases kinds.junit
check live_formats   [ "$(code "$WARPGRIND" --device=cpu --tool=count --host-stacks=no \
  --sarif='live-%p.sarif' --junit='live-%q{WHAT}.xml' ./fake kinds)" = 125 ]
check name_unset     has err 'WHAT is not set'
check live_formats   [ "$(WHAT=x code "$WARPGRIND" --device=cpu --tool=count --host-stacks=no \
  --sarif='live-%p.sarif' --junit='live-%q{WHAT}.xml' ./fake kinds)" = 99 ]
check live_valid     eval 'python3 "$golden/check_sarif.py" live-[0-9]*.sarif &&
  python3 "$golden/check_junit.py" live-x.xml'
check unwritable     [ "$(code "$WARPGRIND" --device=cpu --tool=count --sarif=no/folder/x ./fake \
  kinds)" = 125 ]
check empty          eval \
  '"$WARPGRIND" --device=cpu --sarif=e.sarif --junit=e.xml true 2> /dev/null;
  python3 "$golden/check_sarif.py" e.sarif && python3 "$golden/check_junit.py" e.xml'

check processes      eval \
  '"$WARPGRIND" --device=cpu --tool=count --junit=f.xml --sarif=f.sarif ./fake fork 3 2> /dev/null;
  python3 "$golden/check_sarif.py" f.sarif && python3 "$golden/check_junit.py" f.xml'
check processes_four [ "$(grep -c "<testsuite " f.xml)/$(grep -c "<failure" f.xml)/$(grep -c \
  "none of its launches was checked" f.xml)" = 4/3/3 ]

# bytes that are no text
check odd            [ "$(code "$WARPGRIND" --device=cpu --tool=count --host-stacks=no \
  --json=odd.json --sarif=odd.sarif --junit=odd.xml ./fake odd)" = 99 ]
check odd_text       [ "$(LC_ALL=C grep -c $'[\001\033]' err)" = 0 ]
check odd_related    has err \
  'address 0x20010 is 61456 bytes after the end of an allocation of 4096 bytes at 0x10000 (device)'
check odd_hits       has err \
  'there it hits another allocation of 4096 bytes at 0x20000 (device), 16 bytes from its start'
check odd_files      eval 'python3 -m json.tool odd.json > /dev/null &&
  python3 "$golden/check_sarif.py" odd.sarif && python3 "$golden/check_junit.py" odd.xml'
check odd_escaped    eval 'grep -qF "&lt;tag a=" odd.xml &&
  python3 -c "import xml.etree.ElementTree as t
assert chr(0xe9) in t.parse(\"odd.xml\").getroot()[0][1][0].get(\"message\")"'

# memory is described as it was at the launch
check late           [ "$(code "$WARPGRIND" --device=cpu --tool=count -o late.wg --host-stacks=no \
  ./fake late)" = 99 ]
check late_live      has err \
  'address 0x11008 is 8 bytes after the end of an allocation of 4096 bytes at 0x10000 (device)'
check late_freed     has err \
  'address 0x20004 is 4 bytes inside a freed allocation of 512 bytes at 0x20000 (device)'
cp err first
check late_again     eval '"$WARPGRIND" report late.wg 2> err; diff <(sort first) <(sort err)'

# colours: kind, severity and places; only where they are wanted
plain() { ! LC_ALL=C grep -q $'\033' "$1"; }
code "$WARPGRIND" --device=cpu --tool=count --host-stacks=no --color=always --json=c.json \
  --sarif=c.sarif --junit=c.xml ./fake finding 1 > /dev/null
check color_kind     grep -q \
  $'\033\\[1;31mError:\033\\[0m Write outside of an allocation (\033\\[1;31moob-write\033\\[0m)' err
check color_place    grep -q $'at \033\\[1mfake.cu:11\033\\[0m in' err
check color_files    eval 'plain c.json && plain c.sarif && plain c.xml'
code "$WARPGRIND" --device=cpu --tool=count --color=always --log-file=c.log ./fake finding 1 > \
  /dev/null
check color_log      plain c.log
code "$WARPGRIND" --device=cpu --tool=count ./fake finding 1 > /dev/null
check color_pipe     plain err
cat > terminal.py << 'P'
import os, pty, sys
def read(fd):
    data = os.read(fd, 4096)
    sys.stdout.buffer.write(data)
    return data
os.environ["TERM"] = "xterm"
pty.spawn(sys.argv[1:], read)
P
check color_terminal eval \
  'python3 terminal.py "$WARPGRIND" --device=cpu --tool=count ./fake finding 1 > tty < /dev/null;
  ! plain tty'
check color_no_color eval 'NO_COLOR=1 python3 terminal.py "$WARPGRIND" --device=cpu --tool=count '\
'./fake finding 1 > tty < /dev/null; plain tty && grep -q oob-write tty'
check color_never    eval 'python3 terminal.py "$WARPGRIND" --device=cpu --tool=count '\
'--color=never ./fake finding 1 > tty < /dev/null; plain tty && grep -q oob-write tty'

# quiet, verbose, exit code, how many are printed
code "$WARPGRIND" --device=cpu --tool=count --host-stacks=no -q ./fake kinds > /dev/null
check quiet          eval 'grep -q "(oob-write)" err && ! grep -q "ERROR SUMMARY\|coverage" err'
check exitcode       [ "$(code "$WARPGRIND" --device=cpu --tool=count --error-exitcode=3 ./fake \
  kinds)" = 3 ]
check max_errors     [ "$(code "$WARPGRIND" --device=cpu --tool=count --max-errors=2 ./fake kinds;
  grep -c '^==[0-9]*== \(Error\|Warning\|Note\): ' err)" = "99
2" ]
check max_errors_said has err \
  '2 findings have been printed; further ones are only counted (--max-errors)'
check max_errors_all grep -q 'ERROR SUMMARY: [0-9][0-9] errors' err
