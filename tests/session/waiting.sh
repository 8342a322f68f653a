#!/usr/bin/env bash
set -u
. tests/lib/unit.sh
unit session/waiting
