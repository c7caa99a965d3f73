#include "elf/demangle.h"

#include <ctype.h>
#include <dlfcn.h>
#include <stdlib.h>

typedef char *demangler(const char *, char *, size_t *, int *);

#ifdef IS_STATIC
demangler __cxa_demangle; // libstdc++'s, a part of the program

static demangler *find_demangler(void)
{
	return __cxa_demangle;
}
#else
/** Of the library that every bpftrace needs; it stays loaded. */
static demangler *find_demangler(void)
{
	static demangler *found;
	static bool tried;
	void *cxx = tried ? NULL : dlopen("libstdc++.so.6", RTLD_LAZY | RTLD_LOCAL);
	void *f = cxx ? dlsym(cxx, "__cxa_demangle") : NULL;
	tried = true;
	if (f)
		memcpy(&found, &f, sizeof(f)); // ISO C has no cast for that
	return found;
}
#endif

/** acme::put::h0123456789abcdef: the hash that tells Rust's instances apart. */
static struct str without_hash(struct str s)
{
	enum { HASH = 16 };
	struct str hash = str_from_offset(s, s.n < HASH ? s.n : s.n - HASH);
	for (size_t i = 0; i < hash.n; i++)
		if (!isxdigit((unsigned char)hash.p[i]))
			return s;
	struct str before = str_slice(s, 0, s.n - hash.n);
	return hash.n && str_has_suffix(before, STR("::h"))
		   ? str_slice(before, 0, before.n - sizeof("::h") + 1)
		   : s;
}

struct str demangle_symbol(struct arena *a, struct str symbol)
{
	int status = 0;
	demangler *f = str_has_prefix(symbol, STR("_Z")) ? find_demangler() : NULL;
	char *text = f ? f(str_dup(a, symbol), NULL, NULL, &status) : NULL;
	struct str ret = text && status == 0 ? str_copy(a, without_hash(str_from(text))) : STR("");
	free(text);
	return ret;
}

struct str demangle_written(struct arena *a, struct str symbol)
{
	struct str name = demangle_symbol(a, symbol);
	return name.n ? name : symbol;
}

static bool is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

/** Where the parameters of @name begin: the bracket that belongs to the last one; its end without any. */
static size_t find_parameters(struct str name)
{
	size_t end = name.n;
	while (end && name.p[end - 1] != ')' && name.p[end - 1] != '>')
		end--;
	if (!end || name.p[end - 1] == '>' ||
	    str_has_suffix(str_slice(name, 0, end), STR("operator()")))
		return name.n;
	for (unsigned depth = 0; end-- > 0;) {
		depth += name.p[end] == ')';
		depth -= name.p[end] == '(';
		if (!depth)
			return end;
	}
	return name.n;
}

/** @name without arguments of a template at its end. */
static struct str without_arguments(struct str name)
{
	unsigned depth = 0;
	if (!name.n || name.p[name.n - 1] != '>' || str_has_suffix(name, STR("operator>")) ||
	    str_has_suffix(name, STR("operator->")) || str_has_suffix(name, STR("operator>>")))
		return name;
	for (size_t i = name.n; i-- > 0;) {
		depth += name.p[i] == '>';
		depth -= name.p[i] == '<';
		if (!depth)
			return str_slice(name, 0, i);
	}
	return name;
}

/** @text without blanks and without each @part. */
static struct str squeeze(struct arena *a, struct str text, struct str part)
{
	struct strbuf b = {0};
	while (text.n) {
		if (part.n && str_take(&text, part))
			continue;
		if (text.p[0] != ' ')
			strbuf_addc(&b, text.p[0]);
		text = str_from_offset(text, 1);
	}
	struct str ret = str_copy(a, strbuf_str(&b));
	strbuf_fini(&b);
	return ret;
}

/** Behind the type that the name of a template's instance begins with: `int acme::put<int>`. */
static struct str without_result(struct str name)
{
	size_t from = 0;
	int depth = 0;
	for (size_t i = 0; i < name.n; i++) {
		if (str_has_prefix(str_from_offset(name, i), STR("operator")) && !depth)
			break;
		if (str_has_prefix(str_from_offset(name, i), STR("(anonymous namespace)"))) {
			i += sizeof("(anonymous namespace)") - 2;
			continue;
		}
		depth += name.p[i] == '<' || name.p[i] == '(';
		depth -= name.p[i] == '>' || name.p[i] == ')';
		if (name.p[i] == ' ' && !depth)
			from = i + 1;
	}
	return str_from_offset(name, from);
}

bool demangle_may_fit(struct str wanted, struct str symbol)
{
	if (!str_has_prefix(symbol, STR("_Z")) && !str_has_prefix(symbol, STR("_R")))
		return false;
	struct str name = str_slice(wanted, 0, find_parameters(wanted));
	name = without_arguments(name);
	size_t from = name.n;
	while (from && is_word(name.p[from - 1]))
		from--;
	// Operators have letters of their own.
	return str_contains(name, STR("operator")) ||
	       str_contains(symbol, str_from_offset(name, from));
}

/** Without ` [clone .isra.0]`. */
static struct str without_clone(struct str name)
{
	for (size_t i = 0; i + 1 < name.n; i++)
		if (str_has_prefix(str_from_offset(name, i), STR(" [clone ")))
			return str_slice(name, 0, i);
	return name;
}

struct str demangle_name(struct arena *a, struct str symbol)
{
	struct str name = without_clone(demangle_symbol(a, symbol));
	return name.n ? without_result(str_slice(name, 0, find_parameters(name))) : symbol;
}

bool demangle_fits(struct arena *a, struct str wanted, struct str name)
{
	static const struct str hidden = {"(anonymous namespace)::", 23};
	bool has_hidden = str_contains(wanted, STR("(anonymous namespace)"));
	name = without_clone(name);
	size_t open = find_parameters(name);
	struct str params = squeeze(a, str_from_offset(name, open), STR(""));
	struct str own = without_result(str_slice(name, 0, open));
	own = squeeze(a, own, has_hidden ? STR("") : hidden);
	struct str short_own = without_arguments(own);
	wanted = squeeze(a, wanted, STR(""));
	str_take(&wanted, STR("::"));
	struct str rest = str_from_offset(wanted, own.n),
		   rest2 = str_from_offset(wanted, short_own.n);
	return (str_has_prefix(wanted, own) && (!rest.n || str_eq(rest, params))) ||
	       (str_has_prefix(wanted, short_own) && (!rest2.n || str_eq(rest2, params)));
}
