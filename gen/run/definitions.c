#include "run/definitions.h"

static bool starts_with_word(struct str line, const char *word)
{
	struct str w = str_from(word);
	return str_has_prefix(line, w) && line.n > w.n &&
	       (line.p[w.n] == ' ' || line.p[w.n] == '\t' || line.p[w.n] == '{');
}

static bool starts_definition(struct str line)
{
	return starts_with_word(line, "struct") || starts_with_word(line, "union") ||
	       starts_with_word(line, "enum");
}

/** How far @line leads in and out of braces; strings do not occur in definitions. */
static int braces(struct str line)
{
	int depth = 0;
	for (size_t i = 0; i < line.n; i++)
		depth += (line.p[i] == '{') - (line.p[i] == '}');
	return depth;
}

unsigned definitions_find_line(struct str program, unsigned line)
{
	unsigned at = 1; // the line that bpftrace puts first
	unsigned number = 0;
	int depth = 0;
	while (program.n) {
		struct str text = str_trim(str_take_line(&program));
		number++;
		bool counts =
		    depth > 0 || str_has_prefix(text, STR("#")) || starts_definition(text);
		if (!counts)
			continue;
		if (++at == line)
			return number;
		if (!str_has_prefix(text, STR("#")))
			depth += braces(text);
		if (depth < 0)
			depth = 0;
	}
	return 0;
}
