#include "usdt/argname.h"

static bool is_word_start(char c)
{
	return isalpha((unsigned char)c) || c == '_' || c == '$';
}

static bool is_word_char(char c)
{
	return is_word_start(c) || isdigit((unsigned char)c);
}

/** Bytes of the string or character literal at the start of @s, all of it when it does not end. */
static size_t literal_length(struct str s)
{
	for (size_t i = 1; i < s.n; i++) {
		if (s.p[i] == '\\')
			i++;
		else if (s.p[i] == s.p[0])
			return i + 1;
	}
	return s.n;
}

/** A pp-number (C11 6.4.8), with C++14's digit separators. */
static size_t number_length(struct str s)
{
	size_t i = 1;
	while (i < s.n) {
		char c = s.p[i], before = s.p[i - 1];
		bool sign = (c == '+' || c == '-') && memchr("eEpP", before, 4);
		bool separator = c == '\'' && i + 1 < s.n && is_word_char(s.p[i + 1]);
		if (!is_word_char(c) && c != '.' && !sign && !separator)
			break;
		i++;
	}
	return i;
}

static size_t word_length(struct str s)
{
	size_t n = 0;
	while (n < s.n && is_word_char(s.p[n]))
		n++;
	return n;
}

static size_t token_length(struct str s)
{
	char c = s.n ? s.p[0] : '\0';
	if (is_word_start(c))
		return word_length(s);
	if (isdigit((unsigned char)c))
		return number_length(s);
	if (c == '"' || c == '\'')
		return literal_length(s);
	if (str_has_prefix(s, STR("//")))
		return str_find(s, '\n');
	if (!str_has_prefix(s, STR("/*")))
		return s.n > 0;
	const char *end = memmem(s.p + 2, s.n - 2, "*/", 2);
	return end ? (size_t)(end + 2 - s.p) : s.n;
}

struct str argname_take_token(struct str *rest)
{
	struct str token = str_slice(*rest, 0, token_length(*rest));
	*rest = str_from_offset(*rest, token.n);
	return token;
}

size_t argname_split(struct str text, struct str *ret, size_t max)
{
	size_t n = 0, depth = 0;
	struct str rest = text, start = text;
	for (;;) {
		bool end = rest.n == 0;
		if (end || (rest.p[0] == ',' && depth == 0)) {
			struct str piece = {start.p, (size_t)(rest.p - start.p)};
			if (n < max)
				ret[n] = str_trim(piece);
			n++;
			if (end)
				return n;
			rest = start = str_from_offset(rest, 1);
			continue;
		}
		if (rest.p[0] == '(')
			depth++;
		else if (rest.p[0] == ')' && depth)
			depth--;
		argname_take_token(&rest);
	}
}

size_t argname_close(struct str text)
{
	size_t depth = 0;
	struct str rest = text;
	char close = text.n && text.p[0] == '[' ? ']' : ')';
	while (rest.n) {
		if (rest.p[0] == text.p[0])
			depth++;
		else if (rest.p[0] == close && --depth == 0)
			return text.n - rest.n;
		argname_take_token(&rest);
	}
	return text.n;
}

struct str argname_literal(struct arena *a, struct str text)
{
	struct strbuf b = {0};
	bool good = false;
	for (text = str_trim(text); text.n; text = str_trim(text)) {
		size_t n = literal_length(text);
		good = text.p[0] == '"' && n >= 2 && text.p[n - 1] == '"';
		if (!good)
			break;
		for (struct str s = str_slice(text, 1, n - 2); s.n;) {
			unsigned v;
			if (str_take(&s, STR("\\")) && str_take_escape(&s, &v)) {
				strbuf_addc(&b, (char)v);
			} else if (s.n) {
				strbuf_addc(&b, s.p[0]);
				s = str_from_offset(s, 1);
			}
		}
		text = str_from_offset(text, n);
	}
	struct str s = good ? str_copy(a, strbuf_str(&b)) : (struct str){0};
	strbuf_fini(&b);
	return s;
}

/** Takes the token @word (and blanks around it) off *@s. */
static bool eat(struct str *s, const char *word)
{
	struct str want = str_from(word), t = str_trim(*s);
	if (!str_has_prefix(t, want))
		return false;
	if (is_word_start(want.p[0]) && t.n > want.n && is_word_char(t.p[want.n]))
		return false;
	*s = str_trim(str_from_offset(t, want.n));
	return true;
}

/** What is between the parentheses that @s wholly consists of. */
static bool inside_parentheses(struct str s, struct str *ret)
{
	s = str_trim(s);
	if (s.n < 2 || s.p[0] != '(' || argname_close(s) != s.n - 1)
		return false;
	*ret = str_trim(str_slice(s, 1, s.n - 2));
	return true;
}

/** Is @s a parenthesis of words, *, &, ::, < and > before an operand? *@ret: the rest. */
static bool is_cast(struct str s, struct str *ret)
{
	size_t close = s.n && s.p[0] == '(' ? argname_close(s) : s.n;
	if (close == s.n)
		return false;
	bool any = false;
	for (size_t i = 1; i < close; i++) {
		if (!is_word_char(s.p[i]) && !memchr(" \t\n*&:<>", s.p[i], 8))
			return false;
		any |= is_word_char(s.p[i]);
	}
	*ret = str_trim(str_from_offset(s, close + 1));
	return any && ret->n && (is_word_start(ret->p[0]) || memchr("(*&", ret->p[0], 3));
}

/** A word followed by ->word, .word, ::word and [...]: its last word, unless that is a constant. */
static struct str last_word(struct str s)
{
	static const char *const constants[] = {"true", "false", "nullptr", NULL};
	struct str none = {0}, name = none;
	do {
		if (name.n && s.p[0] == '[') {
			size_t close = argname_close(s);
			if (close == s.n)
				return none;
			s = str_trim(str_from_offset(s, close + 1));
			continue;
		}
		if (name.n && !eat(&s, "->") && !eat(&s, "::") && !eat(&s, "."))
			return none;
		if (!s.n || !is_word_start(s.p[0]))
			return none;
		name = argname_take_token(&s);
		s = str_trim(s);
	} while (s.n);
	bool has_lower = false;
	for (size_t i = 0; i < name.n; i++)
		has_lower |= islower((unsigned char)name.p[i]) != 0;
	return has_lower && !str_is_any(name, constants) ? name : none;
}

/** Parentheses and operators around a name: how many are taken off, and how many bytes are read for it. */
enum { MAX_LAYERS = 100, MAX_READ = 1 << 18 };

/** The name after an expression, or empty. */
static struct str of_expression(struct str s)
{
	struct str inner;
	size_t n_read = 0;
	for (unsigned i = 0; i < MAX_LAYERS && n_read < MAX_READ; i++) {
		s = str_trim(s);
		n_read += s.n;
		struct str call = s;
		if (inside_parentheses(s, &inner))
			s = inner;
		else if (s.n && memchr("*&+", s.p[0], 3))
			s = str_from_offset(s, 1);
		else if (is_cast(s, &inner))
			s = inner;
		else if (eat(&call, "USDT_BITS") && inside_parentheses(call, &inner))
			s = inner;
		else
			return last_word(s);
	}
	return (struct str){0};
}

/** ((void)sizeof("USDT_ARG"), (void)sizeof("name"), ..., (EXPRESSION)) as the four pieces of USDT_ARG. */
static size_t expanded_form(struct arena *a, struct str s, struct str *ret)
{
	struct str inner, parts[5];
	if (!inside_parentheses(s, &inner))
		return 0;
	size_t n = argname_split(inner, parts, 5);
	if (n < 3 || n > 5)
		return 0;
	for (size_t i = 0; i + 1 < n; i++)
		if (!eat(&parts[i], "(") || !eat(&parts[i], "void") || !eat(&parts[i], ")") ||
		    !eat(&parts[i], "sizeof") || !inside_parentheses(parts[i], &parts[i]))
			return 0;
	if (!str_eqz(argname_literal(a, parts[0]), "USDT_ARG") ||
	    !inside_parentheses(parts[n - 1], &ret[0]))
		return 0;
	for (size_t i = 1; i + 1 < n; i++)
		ret[i] = parts[i];
	return n - 1;
}

/** The whole of @s is USDT_BITS(...), or what that is after macro expansion, in C++ and in C. */
static bool is_bits(struct str s)
{
	struct str inner;
	for (unsigned i = 0; i < 8 && inside_parentheses(s, &inner); i++)
		s = inner;
	if (eat(&s, "USDT_BITS") || eat(&s, "::usdt_bits"))
		return inside_parentheses(s, &inner);
	size_t close = eat(&s, "_Generic") && s.n ? argname_close(s) : s.n;
	inner = str_from_offset(s, close + (close < s.n));
	return str_has_suffix(str_slice(s, 0, close), STR("usdt_bits_takes_a_float_or_a_double")) &&
	       inside_parentheses(inner, &inner);
}

void argname_parse(struct arena *a, struct str piece, struct argname_arg *ret)
{
	struct str parts[4], call = piece, inner;
	size_t n = 0;
	*ret = (struct argname_arg){.expr = piece};
	if (eat(&call, "USDT_ARG") && inside_parentheses(call, &inner))
		n = argname_split(inner, parts, 4);
	else
		n = expanded_form(a, piece, parts);
	ret->is_bits = is_bits(n < 2 || n > 4 ? piece : parts[0]);
	if (n < 2 || n > 4) {
		ret->name = of_expression(piece);
		return;
	}
	ret->expr = parts[0];
	struct str name = argname_literal(a, parts[1]);
	bool good = str_is_ident(name) && !isdigit((unsigned char)name.p[0]);
	ret->name = good ? name : of_expression(parts[0]);
	if (n > 2)
		ret->doc = argname_literal(a, parts[2]);
	if (n > 3)
		ret->unit = argname_literal(a, parts[3]);
}

static bool is_taken(const struct str *names, size_t n, struct str name)
{
	for (size_t i = 0; i < n; i++)
		if (str_eq(names[i], name))
			return true;
	return false;
}

void argname_number(struct arena *a, struct str *names, size_t n)
{
	static const char few[][6] = {"arg0", "arg1", "arg2", "arg3", "arg4",  "arg5",
				      "arg6", "arg7", "arg8", "arg9", "arg10", "arg11"};
	bool has_names = false;
	for (size_t i = 0; i < n; i++) {
		has_names |= names[i].n > 0;
		if (!names[i].n)
			names[i] = i < sizeof(few) / sizeof(few[0]) ? str_from(few[i])
								    : str_printf(a, "arg%zu", i);
	}
	for (size_t i = 1; has_names && i < n; i++) {
		struct str name = names[i];
		if (!is_taken(names, i, name))
			continue;
		size_t count = 1;
		do
			names[i] = str_printf(a, STR_FMT "%zu", STR_ARG(name), ++count);
		while (is_taken(names, i, names[i]) ||
		       is_taken(names + i + 1, n - i - 1, names[i]));
	}
}
