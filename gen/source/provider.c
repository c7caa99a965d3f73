#include "source/provider.h"

#include "source/defines.h"
#include "usdt/argname.h"

enum { MAX_ARGS = 12, MAX_FILE = 1 << 18 };

static struct str next_token(struct str *rest)
{
	*rest = str_trim(*rest);
	return argname_take_token(rest);
}

/** Without comments, and without the lines of dtrace's #pragma. */
static struct str clean(struct arena *a, struct str text)
{
	struct strbuf b = {0};
	while (text.n) {
		size_t before = b.n;
		text = str_from_offset(text, defines_line(text, &(int){0}, &b) + 1);
		if (str_has_prefix(str_trim(str_from_offset(strbuf_str(&b), before)), STR("#")))
			b.n = before;
		strbuf_addc(&b, '\n');
	}
	return strbuf_take(&b, a);
}

/** `TYPE` or `TYPE NAME`, with blanks anywhere. */
static bool read_arg(struct probesigs *types, struct str text, struct probesig_arg *ret)
{
	struct strbuf b = {0};
	struct str token = {0};
	while ((text = str_trim(text)).n) {
		token = next_token(&text);
		strbuf_addz(&b, b.n ? " " : "");
		strbuf_adds(&b, token);
	}
	struct str whole = strbuf_take(&b, types->arena);
	ret->type = probesig_type(types, whole);
	if (ret->type)
		return true;
	ret->name = token;
	ret->type = probesig_type(types, str_slice(whole, 0, whole.n - token.n));
	return ret->type && str_is_ident(token) && !probesig_type(types, token);
}

static struct probesig *read_args(struct probesigs *types, struct str text)
{
	struct probesig *sig = arena_new(types->arena, struct probesig);
	struct str parts[MAX_ARGS];
	text = str_trim(text);
	sig->is_of_project = true;
	sig->args = arena_array(types->arena, struct probesig_arg, MAX_ARGS);
	sig->n_args = text.n && !str_eqz(text, "void") ? argname_split(text, parts, MAX_ARGS) : 0;
	for (size_t i = 0; i < sig->n_args; i++)
		if (i == MAX_ARGS || !read_arg(types, parts[i], &sig->args[i]))
			return NULL;
	return sig;
}

static struct probesig *read_file(struct arena *a, struct str text, struct str provider,
				  struct str name)
{
	struct probesigs types = {.arena = a};
	bool is_provider = false;
	for (struct str rest = clean(a, text); rest.n;) {
		struct str word = next_token(&rest);
		if (str_eqz(word, "provider"))
			is_provider = str_eq(next_token(&rest), provider);
		if (!is_provider || !str_eqz(word, "probe") || !str_eq(next_token(&rest), name))
			continue;
		rest = str_trim(rest);
		size_t close = rest.n && rest.p[0] == '(' ? argname_close(rest) : rest.n;
		return close < rest.n ? read_args(&types, str_slice(rest, 1, close - 1)) : NULL;
	}
	return NULL;
}

struct probesig *provider_find(struct dwsrc *src, const char *path, Dwarf_Die *unit,
			       struct str provider, struct str name)
{
	static const char *const before[] = {"", "", "", "dtrace", "probes"};
	static const char *const after[] = {"_dtrace.d", "_probes.d", ".d", ".d", ".d"};
	struct probesig *sig = NULL;
	for (size_t i = 0; i < 5 && !sig && str_is_ident(provider); i++) {
		struct str mine = before[i][0] ? STR("") : provider;
		struct str file =
		    str_printf(src->arena, "%s" STR_FMT "%s", before[i], STR_ARG(mine), after[i]);
		struct str text = defines_beside(src, path, unit, file);
		if (text.n <= MAX_FILE)
			sig = read_file(src->arena, text, provider, name);
	}
	return sig;
}
