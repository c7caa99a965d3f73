#include "run/definitions.h"

static bool starts_with_word(struct str line, const char *word)
{
	struct str w = str_from(word);
	return str_has_prefix(line, w) && line.n > w.n &&
	       (line.p[w.n] == ' ' || line.p[w.n] == '\t' || line.p[w.n] == '{');
}

unsigned definitions_find_line(struct str program, unsigned line)
{
	unsigned at = 1; // the line that bpftrace puts first
	unsigned number = 0;
	int depth = 0;
	while (program.n) {
		struct str text = str_trim(str_take_line(&program));
		number++;
		bool is_macro = str_has_prefix(text, STR("#"));
		if (depth == 0 && !is_macro && !starts_with_word(text, "struct") &&
		    !starts_with_word(text, "union") && !starts_with_word(text, "enum"))
			continue;
		if (++at == line)
			return number;
		// Strings do not occur in definitions.
		for (size_t i = 0; !is_macro && i < text.n; i++)
			depth += (text.p[i] == '{') - (text.p[i] == '}');
		if (depth < 0)
			depth = 0;
	}
	return 0;
}
