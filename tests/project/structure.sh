#!/bin/sh
# quick: yes
# Folders depend on each other one way only, files stay small, no path of one machine is in the
# tree.
exec tools/check-structure
