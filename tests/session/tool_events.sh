#!/usr/bin/env bash
# quick: yes
set -u
. tests/lib/unit.sh
unit session/tool_events
