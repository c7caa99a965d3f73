#include "elf/demangle.h"

#include <dlfcn.h>
#include <setjmp.h>

/** acme::put::h0123456789abcdef: without the hash that distinguishes Rust's instances. */
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

/** What begins at the start of @s as @text does, in which a blank may be missing: @return its length, else 0. */
static size_t match_spelling(struct str s, struct str text)
{
	size_t i = 0;
	for (size_t k = 0; k < text.n; k++)
		if (i < s.n && s.p[i] == text.p[k])
			i++;
		else if (text.p[k] != ' ')
			return 0;
	return i;
}

struct str demangle_shorten(struct arena *a, struct str name)
{
	static const struct {
		const char *full, *as;
	} classes[] = {
	    {"std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >",
	     "std::string"},
	    {"std::basic_string_view<char, std::char_traits<char> >", "std::string_view"},
	    {"std::__1::basic_string<char, std::__1::char_traits<char>, std::__1::allocator<char> "
	     ">",
	     "std::string"},
	    {"std::__1::basic_string_view<char, std::__1::char_traits<char> >", "std::string_view"},
	};
	struct strbuf b = {0};
	if (!str_contains(name, STR("basic_string")))
		return name;
	while (name.n) {
		bool is_start = !b.n || (b.p[b.n - 1] != ':' && b.p[b.n - 1] != '_' &&
					 !isalnum((unsigned char)b.p[b.n - 1]));
		size_t n = 0;
		for (size_t i = 0; is_start && !n && i < sizeof(classes) / sizeof(classes[0]); i++)
			if ((n = match_spelling(name, str_from(classes[i].full))) != 0)
				strbuf_addz(&b, classes[i].as);
		if (!n)
			strbuf_addc(&b, name.p[0]);
		name = str_from_offset(name, n ? n : 1);
		if (n && str_has_prefix(name, STR(" >"))) // `> >` of the text, `>>` of C++11
			name = str_from_offset(name, 1);
	}
	return strbuf_take(&b, a);
}

#ifdef HAS_LIBIBERTY
typedef void take_piece(const char *, size_t, void *);
int rust_demangle_callback(const char *, int, take_piece *, void *);
int cplus_demangle_v3_callback(const char *, int, take_piece *, void *);

enum { MAX_NAME = 1 << 16 }; // each few letters of a symbol can double its name

struct growing {
	struct strbuf text;
	jmp_buf too_long;
};

static void add_piece(const char *s, size_t n, void *ctx)
{
	struct growing *g = ctx;
	if (g->text.n + n > MAX_NAME)
		longjmp(g->too_long, 1);
	strbuf_add(&g->text, s, n);
}

static struct str demangle_by(int f(const char *, int, take_piece *, void *), int options,
			      struct arena *a, struct str symbol)
{
	struct growing *g = base_new(struct growing);
	struct str ret = STR("");
	const char *text = str_dup(a, symbol);
	if (setjmp(g->too_long) == 0) {
		if (f(text, options, add_piece, g))
			ret = str_copy(a, strbuf_str(&g->text));
	} else {
		ret = STR("");
	}
	strbuf_fini(&g->text);
	free(g);
	return ret;
}

/** As nm -C: by both manglings; empty for other languages. */
static struct str demangle_rust(struct arena *a, struct str symbol)
{
	return demangle_by(rust_demangle_callback, 0, a, symbol);
}

static struct str demangle_cxx(struct arena *a, struct str symbol)
{
	enum { PARAMETERS = 1, TYPES = 1 << 4 }; // as __cxa_demangle() has it
	return demangle_by(cplus_demangle_v3_callback, PARAMETERS | TYPES, a, symbol);
}
#else
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

static struct str demangle_rust(struct arena *a, struct str symbol)
{
	(void)a, (void)symbol;
	return STR("");
}

static struct str demangle_cxx(struct arena *a, struct str symbol)
{
	int status = 0;
	demangler *f = find_demangler();
	char *text = f ? f(str_dup(a, symbol), NULL, NULL, &status) : NULL;
	struct str ret = text && status == 0 ? str_copy(a, str_from(text)) : STR("");
	free(text);
	return ret;
}
#endif

bool demangle_is_rust(struct str symbol)
{
	return str_has_prefix(symbol, STR("_R")) ||
	       (str_has_prefix(symbol, STR("_ZN")) && str_contains(symbol, STR("17h")));
}

struct str demangle_symbol(struct arena *a, struct str symbol)
{
	struct str rust = demangle_is_rust(symbol) ? demangle_rust(a, symbol) : STR("");
	bool is_cxx = !rust.n && str_has_prefix(symbol, STR("_Z"));
	return is_cxx ? without_hash(demangle_cxx(a, symbol)) : rust;
}

struct str demangle_written(struct arena *a, struct str symbol)
{
	struct str name = demangle_symbol(a, symbol);
	return name.n ? demangle_shorten(a, name) : symbol;
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

/** After the type that the name of a template's instance begins with: `int acme::put<int>`. */
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

enum demangle_kind demangle_kind_of(struct str symbol)
{
	struct str special = symbol;
	char c = str_take(&special, STR("_ZT")) && special.n ? special.p[0] : 0;
	if (str_has_suffix(symbol, STR(".cold")) || str_contains(symbol, STR(".cold.")) ||
	    str_contains(symbol, STR(".part.")))
		return DEMANGLE_PIECE;
	return c == 'h' || c == 'v' || c == 'c'	  ? DEMANGLE_THUNK
	       : c == 'W' || c == 'H'		  ? DEMANGLE_TLS
	       : str_find(symbol, '.') < symbol.n ? DEMANGLE_CLONE
						  : DEMANGLE_FUNCTION;
}

size_t demangle_find_variant(struct str one, struct str other)
{
	size_t i = 0;
	while (i < one.n && i < other.n && one.p[i] == other.p[i])
		i++;
	bool are = i && i < one.n && i < other.n && (one.p[i - 1] == 'C' || one.p[i - 1] == 'D') &&
		   isdigit((unsigned char)one.p[i]) && isdigit((unsigned char)other.p[i]) &&
		   str_eq(str_from_offset(one, i + 1), str_from_offset(other, i + 1));
	return are ? i : 0;
}

struct str demangle_thunk_of(struct str name)
{
	static const struct str between = {" thunk to ", 10};
	for (size_t i = 0; i < name.n; i++)
		if (str_has_prefix(str_from_offset(name, i), between))
			return str_from_offset(name, i + between.n);
	return name;
}

struct str demangle_thunk_symbol(struct arena *a, struct str symbol)
{
	if (!str_take(&symbol, STR("_ZTh")) && !str_take(&symbol, STR("_ZTv")))
		return STR("");
	while (symbol.n &&
	       (isdigit((unsigned char)symbol.p[0]) || symbol.p[0] == 'n' || symbol.p[0] == '_'))
		symbol = str_from_offset(symbol, 1);
	return str_printf(a, "_Z" STR_FMT, STR_ARG(symbol));
}

bool demangle_may_fit(struct str wanted, struct str symbol)
{
	if (!str_has_prefix(symbol, STR("_Z")) && !str_has_prefix(symbol, STR("_R")))
		return false;
	struct str name = str_slice(wanted, 0, find_parameters(wanted));
	name = without_arguments(name);
	size_t from = name.n;
	while (from && (isalnum((unsigned char)name.p[from - 1]) || name.p[from - 1] == '_'))
		from--;
	// Operators have letters of their own, and so have classes of std, as in the constructor _ZNSaIiEC1Ev.
	struct str scope = symbol;
	bool is_short = str_take(&scope, STR("_ZNS")) && scope.n && strchr("absiod", scope.p[0]);
	return is_short || str_contains(name, STR("operator")) ||
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

int demangle_count_parameters(struct arena *a, struct str symbol)
{
	struct str name = without_clone(demangle_symbol(a, symbol));
	size_t at = find_parameters(name);
	if (at == name.n)
		return -1;
	struct str list = str_from_offset(name, at + 1);
	list.n -= str_last(name, ')').n + 1;
	int n = list.n > 0, depth = 0;
	for (size_t i = 0; i < list.n; i++) {
		depth += list.p[i] == '<' || list.p[i] == '(';
		depth -= list.p[i] == '>' || list.p[i] == ')';
		n += list.p[i] == ',' && !depth;
	}
	return n - str_has_suffix(list, STR("..."));
}

/** How many bytes at the start of @s are `operator` and a name with < or > in it, or brackets. */
static size_t match_operator(struct str s)
{
	static const char *const names[] = {
	    "<=>", "<<=", ">>=", "->*", "<<", ">>", "<=", ">=", "->", "<", ">", "()", "[]"};
	if (!str_take(&s, STR("operator")))
		return 0;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (str_has_prefix(s, str_from(names[i])))
			return strlen("operator") + strlen(names[i]);
	return strlen("operator");
}

/** @name without tags, `[abi:cxx11]`, and if @drops_arguments without those of all templates in it, `::<u8>` of Rust too. */
static struct str simplify(struct arena *a, struct str name, bool drops_arguments)
{
	struct strbuf b = {0};
	unsigned depth = 0;
	while (name.n) {
		size_t n = match_operator(name);
		bool is_tag = str_has_prefix(name, STR("[abi:"));
		if (is_tag)
			n = str_find(name, ']') + 1;
		else if (!n)
			n = 1;
		bool is_one = n == 1 && drops_arguments;
		bool begins = is_one && name.p[0] == '<';
		if (begins && str_has_suffix(strbuf_str(&b), STR("::")))
			b.n -= strlen("::");
		depth += begins;
		if (!is_tag && !depth)
			strbuf_adds(&b, str_slice(name, 0, n));
		depth -= is_one && depth && name.p[0] == '>';
		name = str_from_offset(name, n);
	}
	return strbuf_take(&b, a);
}

bool demangle_matches(struct arena *a, struct str pattern, struct str symbol)
{
	struct str name = demangle_name(a, symbol);
	return str_glob(pattern, name) ||
	       (str_has(name, "<") && str_glob(pattern, simplify(a, name, true)));
}

bool demangle_has_parameters(struct str name)
{
	struct str after = str_last(name, ')'); // ` const`, but not of Go's main.(*T).run
	return find_parameters(name) < name.n && (!after.n || after.p[0] == ' ');
}

struct str demangle_bare(struct arena *a, struct str name)
{
	struct str whole = without_clone(name), prefix = STR(""), own = whole;
	struct str clone = str_from_offset(name, whole.n);
	for (size_t i = 0; i < whole.n; i++) {
		struct str rest = str_from_offset(whole, i);
		if (str_take(&rest, STR(" thunk to ")) || str_take(&rest, STR(" function for "))) {
			prefix = str_slice(whole, 0, whole.n - rest.n);
			own = rest;
		}
	}
	if (!demangle_has_parameters(own))
		return name;
	own = simplify(a, without_result(str_slice(own, 0, find_parameters(own))), false);
	// What returns a pointer to a function: `void (*pick<int>(int))(char)`.
	if (!own.n || (own.p[0] == '(' && !str_has_prefix(own, STR("(anonymous namespace)"))))
		return name;
	return str_printf(a, STR_FMT STR_FMT STR_FMT, STR_ARG(prefix), STR_ARG(own),
			  STR_ARG(clone));
}

/** Is @wanted the function @own, with @params or without? */
static bool is_function(struct str wanted, struct str own, struct str params)
{
	return str_take(&wanted, own) && (!wanted.n || str_eq(wanted, params));
}

enum demangle_fit demangle_fit(struct arena *a, struct str wanted, struct str name)
{
	static const struct str hidden = {"(anonymous namespace)::", 23};
	bool has_hidden = str_contains(wanted, STR("(anonymous namespace)"));
	name = demangle_shorten(a, without_clone(name));
	wanted = demangle_shorten(a, wanted);
	size_t open = find_parameters(name);
	struct str params = squeeze(a, str_from_offset(name, open), STR(""));
	struct str own = without_result(str_slice(name, 0, open));
	if (!str_contains(wanted, STR("[abi:")))
		own = simplify(a, own, false);
	struct str bare = squeeze(a, simplify(a, own, true), has_hidden ? STR("") : hidden);
	own = squeeze(a, own, has_hidden ? STR("") : hidden);
	wanted = squeeze(a, wanted, STR(""));
	if (str_eq(wanted, squeeze(a, name, STR("")))) // with the result of an instance
		return DEMANGLE_SAME;
	str_take(&wanted, STR("::"));
	if (is_function(wanted, own, params))
		return DEMANGLE_SAME;
	if (!is_function(wanted, bare, params) &&
	    !is_function(wanted, without_arguments(own), params))
		return DEMANGLE_OTHER;
	return find_parameters(wanted) < wanted.n ? DEMANGLE_INSTANCE : DEMANGLE_SAME;
}
