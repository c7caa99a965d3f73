#!/usr/bin/env python3
"""The cases of tests/cli/templates/*.cases: what a template becomes, or what is said about it (README.md there)."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import cases

sys.exit(cases.run("cli/templates", "expand"))
