// How templates are cut into tokens.
#include "text/lex.h"

#include "tap.h"
#include "lexfile.h"

static struct arena arena;
static struct diag diag;
static char *said;
static size_t said_n;

static struct token *lex(const char *text)
{
	struct token *t = NULL;
	struct src_file *f = src_from_text(&arena, STR("t.bt"), str_from(text));
	lex_file(&arena, &diag, f, &t);
	return t;
}

/** The tokens of @text, joined by bars; a token of an attach point is marked by a tilde. */
static struct str cut(const char *text)
{
	struct strbuf b = {0};
	for (struct token *t = lex(text); t->kind != TOK_EOF; t = t->next) {
		if (b.n)
			strbuf_addc(&b, '|');
		if (t->attach)
			strbuf_addc(&b, '~');
		strbuf_adds(&b, t->text);
	}
	return strbuf_take(&b, &arena);
}

static void is_cut(const char *text, const char *want, const char *claim)
{
	is_str(cut(text), str_from(want), claim);
}

static bool complains(const char *text, const char *message)
{
	unsigned before = diag.n_errors;
	fflush(diag.out);
	rewind(diag.out);
	lex(text);
	fflush(diag.out);
	return diag.n_errors > before && strstr(said, message);
}

static void punctuators(void)
{
	is_cut("a+++b", "a|++|+|b", "the longest punctuator wins");
	is_cut("a<<=b>>=c...d", "a|<<=|b|>>=|c|...|d", "three-byte punctuators");
	is_cut("@a[$x]=$1;", "@|a|[|$x|]|=|$1|;", "maps, variables and parameters of bpftrace");
	is_cut("@++", "@|++", "the map without a name");
	is_cut("1e+5 0x1f 10ms 1_000_000 .5e-3 1.5", "1e+5|0x1f|10ms|1_000_000|.5e-3|1.5",
	       "pp-numbers take signs after an exponent and any letters");
	is_cut("0..N 1..2 $t.1.name ...", "0|..|N|1|..|2|$t|.1|.|name|...",
	       "a range is three tokens, and each element of a tuple is one");
	is_cut("\\ ` \xc3\xa9t", "\\|`|\xc3\xa9|t", "bytes that start nothing are kept");
}

static void quotes(void)
{
	is_cut("\"a // b\" '/*' \"\\\"\"", "\"a // b\"|'/*'|\"\\\"\"",
	       "strings hide comments and quotes");
	is_cut("it's", "it|'|s", "an apostrophe alone is a byte");
	is_cut("x'y\nz'", "x|'|y|z|'", "a character constant ends with its line");
	ok(complains("a \"b\nc", "t.bt:1:3: error: this string is not terminated"),
	   "a string that is not closed on its line is an error at its quote");
	ok(complains("a /* b", "t.bt:1:3: error: unterminated comment"),
	   "a comment without end is an error at its start");
	is_str(lex_string_value(&arena, lex("\"a\\n\\x41\\101\\\"\\q\\\\\"")), STR("a\nAA\"\\q\\"),
	       "escapes of a string");
	is_str(lex_quote(&arena, STR("a\"\\~\x7f\x1f \xc3")), STR("\"a\\\"\\\\~\\x7f\\x1f \\xc3\""),
	       "and back: what is not ASCII or cannot be seen is a number");
}

static void splices(void)
{
	is_cut("ab\\\ncd \"x\\\ny\" +\\\r\n+", "abcd|\"xy\"|++", "line splices vanish from tokens");
	is_cut("a // b \\\n c\n d", "a|c|d",
	       "a backslash at its end continues no comment, as in bpftrace");
	is_cut("a\\ \t\nb", "ab", "blanks may hide behind the backslash, as for gcc");
	is_cut("a /* b *\\\n/ c", "a|c", "a comment's end may be spliced");
	is_cut("a\\", "a|\\", "a backslash at the end of the text is a byte");
}

static void attach_points(void)
{
	is_cut("uprobe:/opt/*:f { a:/*c*/b }", "uprobe|~:|~/|~opt|~/|~*|~:|~f|{|a|:|b|}",
	       "outside of braces slashes after a colon start no comment, inside they do");
	is_cut("usdt:/usr//lib/x:p:n,//c\nBEGIN",
	       "usdt|~:|~/|~usr|~/|~/|~lib|~/|~x|~:|~p|~:|~n|,|BEGIN",
	       "a comma ends an attach point");
	is_cut("usdt:\"/a b\":p:n /x/", "usdt|~:|~\"/a b\"|~:|~p|~:|~n|/|x|/",
	       "a quoted path is part of it, a blank ends it");
	is_cut("uprobe: /opt//x", "uprobe|:|/|opt", "a blank after the colon begins none");
	is_cut("/a ? b://c\n/ {", "/|a|?|b|~:|~/|~/|~c|/|{", "bpftrace reads this as a path, too");
	is_cut("uprobe:/it's:f", "uprobe|~:|~/|~it|~'|~s|~:|~f", "an apostrophe in a path");
	is_cut("BEGIN { } uprobe:/a/*:f,END{x:/*y*/}k:/*z",
	       "BEGIN|{|}|uprobe|~:|~/|~a|~/|~*|~:|~f|,|END|{|x|:|}|k|~:|~/|~*|~z",
	       "braces are followed");
}

static void places(void)
{
	struct token *t = lex("#!/usr/bin/bpftrace\r\n a\r\n\tb /*\n*/ c");
	unsigned line, col;
	src_position(t->loc, &line, &col);
	ok(line == 2 && col == 2 && t->bol, "a first line #! is dropped and keeps its number");
	src_position(t->next->loc, &line, &col);
	ok(line == 3 && col == 2 && t->next->bol, "lines may end in CR LF");
	is_str(t->next->before, STR("\r\n\t"), "what stands before a token is kept as it is");
	t = t->next->next;
	src_position(t->loc, &line, &col);
	ok(line == 4 && col == 4 && !t->bol && t->space, "a comment is a blank, also over lines");
	is_str(t->before, STR(" /*\n*/ "), "a comment is kept before the next token");
	is_str(lex("a\\\n /\\\n/ b \n/\\\r\n* d *\\\n/e")->next->before,
	       STR("\n // b \n\n/*\n d */\n"), "line splices are gone from comments");
	t = lex("a // end");
	is_str(t->next->before, STR(" // end"), "a comment without newline ends the file");
	ok(lex("")->kind == TOK_EOF && lex("\xef\xbb\xbf")->kind == TOK_EOF,
	   "an empty text, and one of a byte order mark, have no tokens");
}

static bool apart(const char *a, const char *b)
{
	return tok_needs_space(lex(a), lex(b));
}

static void spaces(void)
{
	ok(apart("a", "b") && apart("a", "1") && apart("1", "a") && apart("1e", "+") &&
	       apart("1", ".") && apart("+", "+") && apart("+", "+=") && apart("-", ">") &&
	       apart("<", "<=") && apart("/", "/") && apart("/", "*") && apart("=", "=") &&
	       apart(".", "5") && apart("&", "&&") && apart("/", "/="),
	   "tokens that would become one, or a comment, are kept apart");
	ok(!apart("a", "(") && !apart("(", "-") && !apart("-", "+") && !apart("*", "*") &&
	       !apart(")", "a") && !apart("@", "a") && !apart("\"a\"", "b"),
	   "others may touch");
	ok(apart(":", "a") && apart(":", "-"), "a colon and what bpftrace would take for a path");
	struct token *t = lex("k:a:b");
	ok(!tok_needs_space(t->next, t->next->next), "but not in an attach point");
}

int main(void)
{
	diag_init(&diag, open_memstream(&said, &said_n));
	punctuators();
	quotes();
	splices();
	attach_points();
	places();
	spaces();
	fclose(diag.out);
	free(said);
	arena_fini(&arena);
	return done();
}
