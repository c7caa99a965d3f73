#!/usr/bin/env bash
# A traced program that forks, calls exec(), changes its name, or is traced by others at the same time: nothing is left in it,
# nor in its children. The cases are in lifecycle.py.
CASES=targets exec "$(dirname "$0")/lifecycle.t" "$@"
