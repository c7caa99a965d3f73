#!/usr/bin/env bash
# The tree of every construct of the language (*.lang, see README.md), and of each script of ours: it prints what was
# written, byte for byte, and nothing of it is opaque.
top=$(cd "$(dirname "$0")/../.." && pwd)
cd "$top" || exit 1
exec "${BTGEN_BUILD:-build}/tests/unit/lang.t" tests/lang/*.lang bpf/*.bt tests/pp/bpftrace/*.in
