# What the guest of demo.sh does: the demo. Run by init; what it prints goes to the second serial line.
# shellcheck shell=bash
. /job # SHARED
stty -F /dev/ttyS1 raw
cd /btgen || exit
DEMO=here tests/demo.sh >/dev/ttyS1 2>&1
echo "guest: the demo ended with status $?"
