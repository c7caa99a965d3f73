#!/usr/bin/env python3
"""The cases of tests/check/*.cases: wrong scripts, and what is said about each (README.md there)."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import cases

sys.exit(cases.run("check", "check"))
