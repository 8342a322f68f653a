# For folders whose programs have one bug and, built with -DTWIN, none: `// expect: KIND LINE…` says what is found, at one or more of these lines of the program
# itself, or `nothing`. A script defines `one FILE`, which builds and runs both, leaves NAME.code, NAME.err and NAME.lines of each in $d, and calls judge.
d=$TEST_DIR

# lines JSON FILE [KIND…]: "kind line" of each finding, the line being the innermost of this file; findings of these kinds are another test's matter
lines() {
  python3 - "$@" << 'P'
import json, sys
for f in json.load(open(sys.argv[1]))["findings"]:
    if f["kind"] in sys.argv[3:]: continue
    places = [f] + f.get("inlined_at", [])
    mine = [p.get("line") for p in places if (p.get("file") or "").endswith(sys.argv[2])]
    print(f["kind"], mine[0] if mine else "?")
P
}

# judge NAME WANTS [WORDS]: some of the lines and nothing else, with these words in the report; the twin is silent and ends well
judge() {
  local name=$1 wants=$2 says=${3:-} line ok=
  if [ "$wants" = nothing ]; then
    [ -s "$d/$name.lines" ] || [ "$(cat "$d/$name.code")" != 0 ] || ok=1
  else
    for line in ${wants#* }; do echo "${wants%% *} $line"; done > "$d/$name.wants"
    [ -s "$d/$name.lines" ] && ! grep -qvxFf "$d/$name.wants" "$d/$name.lines" && ok=1
    [ -z "$says" ] || grep -q "$says" "$d/$name.err" || ok=
  fi
  [ -n "$ok" ] && echo "ok $name" || { echo "FAIL $name: wants $wants, has: $(tr '\n' ';' < "$d/$name.lines")"; tail -n 20 "$d/$name.err"; }
  if [ ! -s "$d/$name-DTWIN.lines" ] && [ "$(cat "$d/$name-DTWIN.code")" = 0 ]; then echo "ok ${name}_twin"
  else echo "FAIL ${name}_twin: $(tr '\n' ';' < "$d/$name-DTWIN.lines")"; tail -n 20 "$d/$name-DTWIN.err"; fi
}

# every JOBS FILE…: so many at a time; results in the order of names
every() {
  local jobs=$1 running=0 f
  shift
  for f; do
    one "$f" > "$d/$(basename "$f").result" 2>&1 &
    running=$((running + 1))
    [ $((running % jobs)) = 0 ] && wait
  done
  wait
  cat "$d"/*.result
}
