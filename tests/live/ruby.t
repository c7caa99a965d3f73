#!/usr/bin/env bash
# ruby.bt: methods in the order in which a known program runs them, what it raises, its collections.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=tests/live.sh
. "$(dirname "$0")/../live.sh"
ruby=$(command -v /usr/bin/ruby) || skip_all "no ruby here"
{ ldd "$ruby" | awk '$3 ~ "^/" { print $3 }'; echo "$ruby"; } | while read -r file; do
	readelf -n "$file" 2>/dev/null
done | grep -q 'Provider: ruby' || skip_all "$ruby was built without probes"

cat >"$tmp/app.rb" <<'END'
def leaf(n)
  n
end

def middle(n)
  leaf(n)
  leaf(n + 1)
end

class Shop
  def open
    middle(1)
    begin
      sell
    rescue ArgumentError
    end
  end

  def sell
    raise ArgumentError, "no"
  end
end

$stdout.sync = true
TracePoint.new(:call, :return, :c_call) { }.enable
puts "ready"
while gets
  3.times { Shop.new.open }
  before = GC.count
  2.times { GC.start }
  puts "gc #{GC.count - before}"
  require "English"
end
END
live_start "$ruby" --disable-gems "$tmp/app.rb"
wait_for grep -q ready "$tmp/answers"
ok "it attaches" live_trace -D FLOW -D OBJECTS $live_pid ruby.bt
live_say work
wait_for grep -q ' require ' "$tmp/trace"
live_wait INT
is $live_rc 0 "^C is status 0"
exec 8>&-
wait_end "$live_pid"

round="1 > Shop#open
2 > Object#middle
3 > Object#leaf
3 < Object#leaf
3 > Object#leaf
3 < Object#leaf
2 < Object#middle
2 > Shop#sell
raises ArgumentError
2 < Shop#sell
1 < Shop#open"
is "$(sed -nE "s/^[0-9.]+: $live_pid (([0-9]+ [<>] (Shop|Object)#[a-z]+|raises ArgumentError)).*/\1/p" "$tmp/trace")" "$round
$round
$round" "the methods of the program and what it raises, in order, as deep as they are"
is "$(sed -nE 's/^@calls\[((Shop|Object), .*)\]: /\1 /p' "$tmp/trace" | sort)" "Object, leaf 6
Object, middle 3
Shop, open 3
Shop, sell 3" "how often each was called"
is "$(grep -E '^@(raised|objects)\[(ArgumentError|Shop)\]' "$tmp/trace" | sort)" "@objects[ArgumentError]: 3
@objects[Shop]: 3
@raised[ArgumentError]: 3" "what was made, and raised"
is "gc $(histogram 'gc_us[mark]')" "$(grep ^gc "$tmp/answers")" "as many collections as Ruby counted"
like "$(cat "$tmp/trace")" " require English \($tmp/app.rb:[0-9]+\)$" "what was required, where"
is_sample ruby.bt
unlike "$(cat "$tmp/trace")" '^(no method calls|@called)' "without a complaint"

# Without a script: Ruby's documentation has the arguments' names and types.
live_start "$ruby" --disable-gems "$tmp/app.rb"
wait_for grep -q ready "$tmp/answers"
ok "it attaches without a script" live_trace -t method__entry -t raise -t require__entry -t string__create $live_pid
live_say work
wait_for grep -q 'require__entry requiredfile="English"' "$tmp/trace"
live_wait INT
exec 8>&-
wait_end "$live_pid"
sed "s|$tmp/||; s/^[^]]*] ruby://" "$tmp/trace" >"$tmp/lines"
app='filename="app.rb" lineno='
round="method__entry classname=\"Shop\" methodname=\"open\" ${app}12
method__entry classname=\"Object\" methodname=\"middle\" ${app}6
method__entry classname=\"Object\" methodname=\"leaf\" ${app}2
method__entry classname=\"Object\" methodname=\"leaf\" ${app}2
method__entry classname=\"Shop\" methodname=\"sell\" ${app}20
raise classname=\"ArgumentError\" sourcefile=\"app.rb\" lineno=20"
is "$(grep -E '^method__entry.*"app.rb"|^raise' "$tmp/lines")" "$round
$round
$round" "-t prints names and files as strings"
is "$(sed -n 's/ lineno=.*//; /^require__entry/p' "$tmp/lines")" \
	'require__entry requiredfile="English" sourcefile="app.rb"' "of a file, too"
like "$(cat "$tmp/lines")" '^string__create length=[0-9]+ ' "and lengths as numbers"

# A program as it is: up to Ruby 3.1 none of its methods reach the probes.
sed -i '/^TracePoint/d' "$tmp/app.rb"
rm -f "$tmp/answers"
live_start "$ruby" --disable-gems "$tmp/app.rb"
wait_for grep -q ready "$tmp/answers"
ok "it attaches to a program without a trace point" live_trace $live_pid ruby.bt
live_say work
wait_for grep -q ' require ' "$tmp/trace"
live_wait INT
exec 8>&-
wait_end "$live_pid"
if grep -q '^@calls' "$tmp/trace"; then
	skip "why no method is shown" "this Ruby needs no trace point"
else
	like "$(cat "$tmp/trace")" '^no method calls were seen: Ruby 3.1 reports them only .* TracePoint' "and says why no method is shown"
fi

done_testing
