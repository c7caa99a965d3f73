# What the guest of small.sh does: the demo, or a test. Run by init; what that prints goes to the second serial line.
# shellcheck shell=bash
. /job # SHARED, command
stty -F /dev/ttyS1 raw
cd /btgen || exit
DEMO=here "$command" >/dev/ttyS1 2>&1
echo "guest: status $?"
