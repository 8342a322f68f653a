#!/usr/bin/env bash
# timeout: 240
# The paper's other stories (docs/tutorial.md) can be followed to their causes.
set -u
cd "$ROOT" || exit 1
. tests/viewer/lib.sh
for program in node chromium nvcc; do
  command -v $program > /dev/null || { echo "$program is not installed"; exit 77; }
done
for name in bezier_subdivision denoising tessellation; do
  record $name --tool=memcheck,initcheck || continue
  serve "$TEST_DIR/$name.wg" || continue
  node tests/viewer/stories.mjs $name "$URL" "$TEST_DIR/$name.png"
  end_server
done
