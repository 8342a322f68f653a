#!/bin/sh
# quick: yes
# No file of these folders exports a name that no other file uses.
exec tools/dead-exports base cli run view ptx ir vgpu image diff store symbol where
