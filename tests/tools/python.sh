#!/usr/bin/env bash
# A program in Python: findings say where it was in Python, whether or not it held the interpreter's
# lock in the call.
. tests/lib/check.sh
. tests/lib/annotations.sh
d=$TEST_DIR
command -v python3 > "$d/log" || { echo "skip python: no python3"; exit 0; }
[ "$SAN" = 0 ] || { echo "skip python: not under sanitizers"; exit 0; }
known=no; ! python3 -c 'import sys; sys.exit(sys.version_info[:2] not in ((3, 11), (3, 12)))' ||
  known=yes
line() { line_of "$1" tests/tools/launch_from_python.py; }
for lock in held released; do
  if [ $lock = released ] && [ $known = no ]; then
    echo "skip $lock: frames of this version are read with the lock only"; continue
  fi
  "$WARPGRIND" --device=cpu --tool=count --json="$d/json" --log-file="$d/text" -- python3 \
    tests/tools/launch_from_python.py $lock > "$d/out" 2> "$d/err"
  check "$lock-code" [ $? = 99 ]
  check "$lock-program" grep -qx 'result 700' "$d/out"
  python3 - "$d/json" > "$d/got" <<'PY'
import json, sys
for f in json.load(open(sys.argv[1]))["findings"]:
    for s in f["stack"][:3]:
        print(s["file"].split("/")[-1], s["line"], s["function"].split(".")[-1])
PY
  cat > "$d/want" <<EOF
launch_from_python.py $(line launch) forward
launch_from_python.py $(line train) train
launch_from_python.py $(line main) <module>
EOF
  check "$lock-stack" diff "$d/got" "$d/want"
  check "$lock-no-interpreter" eval '! grep -q "_PyEval" "$d/text"'
done
cat "$d/text"
exit 0
