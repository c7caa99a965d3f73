# Does one kind of work N times for each line with an N that it reads, then says "done": calls.rb KIND.
# call: a method that does nothing; raise: an exception that is rescued.
def nothing
end

$stdout.sync = true
TracePoint.new(:call, :return, :c_call) { }.enable if ARGV[0] == "call"
while line = $stdin.gets
  i = line.to_i
  while i > 0
    if ARGV[0] == "call"
      nothing
    else
      begin
        raise ArgumentError
      rescue ArgumentError
      end
    end
    i -= 1
  end
  puts "done"
end
