<?php
// Calls a function that does nothing N times for each line with an N that it reads, then says "done".
function nothing() {}

while (($line = fgets(STDIN)) !== false) {
	for ($i = (int)$line; $i > 0; $i--)
		nothing();
	echo "done\n";
}
