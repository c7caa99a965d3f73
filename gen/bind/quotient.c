#include "bind/quotient.h"

#include "bind/edit.h"

static bool is_one_of(const struct token *t, const char *const *texts)
{
	for (; t && *texts; texts++)
		if (tok_is(t, *texts))
			return true;
	return false;
}

/** The operand and what is behind it are one operand of whatever @before belongs to. */
static bool is_free(const struct token *before, bool shift)
{
	static const char *const texts[] = {
	    "(",  "[",	"{",  ",",  ";",  "?",	"=",  ":",  "==", "!=", "<", ">", "<=",
	    ">=", "&&", "||", "+=", "-=", "|=", "&=", "^=", "&",  "|",	"^", NULL};
	static const char *const sums[] = {"+", "-", "<<", ">>", NULL};
	// `pid == N && (` is one token of ours
	return !before || is_one_of(before, texts) || str_has_suffix(before->text, STR("(")) ||
	       (!shift && is_one_of(before, sums));
}

/** `/ 1000 % 60`: the end of the operators of one strength with numbers behind that begin at @op; NULL for none. */
static struct token *last_number(struct token *op, bool shift)
{
	struct token *last = NULL;
	for (;; op = op->next->next) {
		bool divides = shift ? tok_is(op, ">>") : tok_is(op, "/") || tok_is(op, "%");
		if ((!divides && (shift || !tok_is(op, "*"))) || op->next->kind != TOK_NUMBER)
			return last;
		last = divides ? op->next : last;
	}
}

struct str quotient_text(struct arena *a, const struct token *before, struct str value,
			 struct token *op, struct token **last)
{
	static const char *const stronger[] = {"+", "-", "*", "/", "%", ".", NULL};
	bool shift = tok_is(op, ">>");
	struct token *end = last_number(op, shift);
	if (!end || !is_free(before, shift) || (shift && is_one_of(end->next, stronger)))
		return STR("");
	*last = end;
	char sign = shift ? '~' : '-';
	struct str behind = edit_text(a, op, end);
	return str_from(arena_printf(a,
				     "(" STR_FMT " < 0 ? %c(int64)((uint64)%c" STR_FMT " " STR_FMT
				     ") : (int64)((uint64)" STR_FMT " " STR_FMT "))",
				     STR_ARG(value), sign, sign, STR_ARG(value), STR_ARG(behind),
				     STR_ARG(value), STR_ARG(behind)));
}
