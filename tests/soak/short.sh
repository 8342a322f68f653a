#!/usr/bin/env bash
# timeout: 300
# Every attack of the soak for a few seconds from a fixed start, so that the scripts stay in order;
# `make soak HOURS=n` goes on with new ones.
set -u
cd "$ROOT" || exit 1
for name in $(tools/soak --list); do
  if tools/soak --seed=1 --seconds="${SOAK_SECONDS:-$([ "${TEST_SIZE:-}" = long ] && echo 120 ||
    echo 3)}" --found="$TEST_DIR/found" "$name" > "$TEST_DIR/$name.out" 2>&1; then
    why=$(sed -n 's/^.*: skipped: //p' "$TEST_DIR/$name.out" | head -n 1)
    if [ -n "$why" ]; then
      echo "skip $name: $why"
    else
      echo "ok $name: $(tail -n 1 "$TEST_DIR/$name.out")"
    fi
  else
    cat "$TEST_DIR/$name.out"
    echo "FAIL $name"
  fi
done
