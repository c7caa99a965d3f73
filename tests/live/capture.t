#!/usr/bin/env bash
# Wherever a trace goes and however that ends: whole lines are there, what went wrong is said, and nothing is left. The cases are
# in lifecycle.py.
CASES=captures exec "$(dirname "$0")/lifecycle.t" "$@"
