#!/usr/bin/env python3
"""tests/lib/lesson.py PAGE TREE: does to a copy of the tree what a lesson of docs/ tells its reader
to do.

These sentences, each followed by a block of code, are instructions; everything else of a page is
read by people only:

    In `FILE`, before `TEXT`:     the block goes before the first line that contains TEXT
    In `FILE`, after `TEXT`:      … after it
    In `FILE`, instead of `TEXT`: … in its place
    In `FILE`, at the end:        … behind the last line
    A new file `FILE`:            the block is the file

Prints the files that were changed. A file that is not there or a text that is not in it ends the
test: the page is out of date."""
import os
import re
import sys

INSTRUCTION = re.compile(r'^(?:In `(?P<file>[^`]+)`, (?:(?P<where>before|after|instead of) '
                         r'`(?P<text>[^`]+)`|at the end)'
                         r'|A new file `(?P<new>[^`]+)`):\n+```\w*\n(?P<code>.*?)^```$',
                         re.M | re.S)


def insert(path, where, text, code):
    lines = open(path).read().split('\n')
    at = next((i for i, line in enumerate(lines) if text and text in line), None)
    if where == 'at the end':
        at = len(lines) - 1                     # the empty one behind the last newline
    elif at is None:
        sys.exit('the lesson names a text that %s does not have: %s' % (path, text))
    at += where == 'after'
    lines[at:at + (where == 'instead of')] = code.rstrip('\n').split('\n')
    open(path, 'w').write('\n'.join(lines))


def main():
    page, tree = sys.argv[1:]
    changed = []
    for step in INSTRUCTION.finditer(open(page).read()):
        name = step['file'] or step['new']
        path = os.path.join(tree, name)
        if step['new']:
            os.makedirs(os.path.dirname(path), exist_ok=True)
            open(path, 'w').write(step['code'])
        elif not os.path.exists(path):
            sys.exit('the lesson names a file that is not there: ' + name)
        else:
            before = os.stat(path)
            insert(path, step['where'] or 'at the end', step['text'], step['code'])
            # The test says what is to be compiled again; a header would mean everything.
            os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
        changed.append(name)
    if not changed:
        sys.exit('the lesson has no instructions')
    print('\n'.join(dict.fromkeys(changed)))


main()
