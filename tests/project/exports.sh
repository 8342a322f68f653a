#!/bin/sh
# quick: yes
# No file of src exports a name that no other file uses.
exec tools/dead-exports
