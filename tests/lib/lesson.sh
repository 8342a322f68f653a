# A copy of the tree and of its build, in which a lesson of docs/ is followed. Used by
# tests/project/new_*.sh. follow_lesson PAGE OBJECT…: the copy is $tree, its build $tree_build; the
# objects (ptx/tables.o) are compiled again, and what is new.
follow_lesson() {
  local page=$1 object; shift
  tree=$TEST_DIR/tree tree_build=$(basename "$BUILD")
  mkdir -p "$tree"
  cp -a src include tests tools viewer Makefile "$tree/" || return 1
  mkdir -p "$tree/$tree_build"
  cp -a "$BUILD"/obj "$BUILD"/lib "$BUILD"/gen "$BUILD"/flags "$BUILD"/warpgrind \
    "$BUILD"/warpgrind.1 "$tree/$tree_build/" || return 1
  [ -d "$BUILD/viewer" ] && cp -a "$BUILD/viewer" "$tree/$tree_build/"
  python3 tests/lib/lesson.py "$page" "$tree" > "$TEST_DIR/changed" || return 1
  for object in "$@"; do touch -d @1 "$tree/$tree_build/obj/"$object; done
  make -s -C "$tree" BUILD="$tree_build" CC="$CC" SAN="${SAN:-0}" all > "$TEST_DIR/make.log" 2>&1 ||
    { tail -n 20 "$TEST_DIR/make.log"; return 1; }
}
