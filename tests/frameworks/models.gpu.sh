#!/usr/bin/env bash
# Correct models with all tools at once on a real GPU: nothing is reported.
set -u
folder=$(dirname "$0")
has() { python3 -c "import $1" 2> /dev/null; }
names=
has torch && names="convolution attention embedding recurrent convolution-bf16 attention-bf16
  attention-compiled embedding-compiled"
has cupy && names="$names cupy"
[ -n "$names" ] || { echo "skip models: there is no framework"; exit 0; }
[ -z "${MODELS:-}" ] || names=$MODELS
for name in $names; do
  (timeout "${LIMIT:-200}" "$WARPGRIND" --device=gpu --tool=all python3 "$folder/models.py" \
    "$name" > "$TEST_DIR/$name.out" 2> "$TEST_DIR/$name.log"; echo $? > "$TEST_DIR/$name.code") &
done
wait
for name in $names; do
  code=$(cat "$TEST_DIR/$name.code")
  if [ "$code" = 0 ] && grep -q 'ERROR SUMMARY: 0 errors' "$TEST_DIR/$name.log"; then
    echo "ok $name"
  else
    echo "FAIL $name: exit code $code"; head -n 60 "$TEST_DIR/$name.log"
  fi
done
