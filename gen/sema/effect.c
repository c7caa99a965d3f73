#include "sema/effect.h"

#include "lang/vocabulary.h"

/** Of the node itself: what its children do comes to it. */
static enum effect own_effect(const struct node *n, const struct expr *e)
{
	bool is_call = n->kind == NODE_CALL, is_word = is_call || n->kind == NODE_NAME;
	if (node_is_step(n) || n->kind == NODE_ASSIGN || n->kind >= NODE_BLOCK ||
	    (is_word && e->is_substituted))
		return EFFECT_CHANGES;
	if (is_word) { // or an argument, or an enumerator
		const struct word *word = vocabulary_word(node_text(n));
		return is_call || word->is_bare ? word->effect : EFFECT_NONE;
	}
	bool is_read = n->kind == NODE_MAP || n->kind == NODE_INDEX ||
		       node_is(n, NODE_UNARY, "*") ||
		       (n->kind == NODE_MEMBER && n->name->kind != TOK_NUMBER && !node_is_named(n));
	return is_read ? EFFECT_READS : EFFECT_NONE;
}

enum effect effect_find(const struct node *n, const struct expr *e)
{
	enum effect most = own_effect(n, e);
	for (const struct node *c = n->child; c; c = c->next)
		if (c->expr && c->expr->effect > most)
			most = c->expr->effect;
	return most;
}
