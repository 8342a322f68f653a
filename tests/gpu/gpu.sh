#!/usr/bin/env bash
# The programs of this folder on the real GPU: plain, and under Warpgrind on both devices.
GPU_DEVICE=${GPU_DEVICE:-gpu} exec bash "$(dirname "$0")/identity.sh" "$@"
