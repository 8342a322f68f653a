#!/usr/bin/env bash
# The page's TypeScript is right in its types, and prettier has formatted the page and its tests.
# Both come from npm, as viewer/package-lock.json says.
set -u
cd "$ROOT" || exit 1
command -v npm > /dev/null || { echo "npm is not installed"; exit 77; }
cp -r viewer "$TEST_DIR/page" || exit 1
cd "$TEST_DIR/page" || exit 1
npm ci --ignore-scripts --no-audit --no-fund --prefer-offline --fetch-retries=1 > ../npm.log 2>&1 ||
  { cat ../npm.log; echo "npm could not fetch TypeScript (no network?)"; exit 77; }
node node_modules/typescript/bin/tsc -p . || exit 1
cd "$ROOT" || exit 1
node "$TEST_DIR/page/node_modules/prettier/bin/prettier.cjs" --check --log-level=warn \
  'viewer/src/**' 'tests/**/*.mjs' 'bench/*.mjs'
