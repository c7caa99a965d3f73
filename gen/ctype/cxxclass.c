#include "ctype/cxxclass.h"

/** Members of libstdc++ 5 to 15; a unique_ptr's pointer is in a tuple, whose bases all call theirs _M_head_impl. */
static const struct {
	const char *name; // with the first argument, where only that one is meant
	enum cxxclass_kind kind;
	const char *first, *second;
} classes[] = {
    {"std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char>", CXXCLASS_TEXT,
     "_M_dataplus._M_p", "_M_string_length"},
    {"std::basic_string_view<char,", CXXCLASS_TEXT, "_M_str", "_M_len"},
    {"std::vector<", CXXCLASS_VECTOR, "_M_impl._M_start", "_M_impl._M_finish"},
    {"std::map<", CXXCLASS_COUNTED, "_M_t._M_impl._M_node_count", NULL},
    {"std::multimap<", CXXCLASS_COUNTED, "_M_t._M_impl._M_node_count", NULL},
    {"std::set<", CXXCLASS_COUNTED, "_M_t._M_impl._M_node_count", NULL},
    {"std::multiset<", CXXCLASS_COUNTED, "_M_t._M_impl._M_node_count", NULL},
    {"std::unordered_map<", CXXCLASS_COUNTED, "_M_h._M_element_count", NULL},
    {"std::unordered_multimap<", CXXCLASS_COUNTED, "_M_h._M_element_count", NULL},
    {"std::unordered_multiset<", CXXCLASS_COUNTED, "_M_h._M_element_count", NULL},
    {"std::unordered_set<", CXXCLASS_COUNTED, "_M_h._M_element_count", NULL},
    {"std::__cxx11::list<", CXXCLASS_COUNTED, "_M_impl._M_node._M_size", NULL},
    {"std::unique_ptr<", CXXCLASS_POINTER, NULL, NULL},
    {"std::shared_ptr<", CXXCLASS_POINTER, "_M_ptr", NULL},
    {"std::optional<", CXXCLASS_OPTIONAL, "_M_payload._M_payload._M_value",
     "_M_payload._M_engaged"},
};

/** Of structs in structs: a corrupt type may contain itself. */
enum { MAX_DEPTH = 16 };

static bool find_member(struct ctype *t, const char *path, struct ctype_place *ret)
{
	struct str bad;
	struct ctype *in;
	return ctype_resolve(t, str_from(path), ret, &bad, &in) && !ret->bit_size;
}

/**
 * The pointer of a std::string in what clang only declares: _Alloc_hider is a pointer and an allocator, which
 * is empty, and 8 bytes after its start the next member is.
 */
static bool find_hidden_pointer(struct ctype *t, const struct ctype_place *next,
				struct ctype_place *ret)
{
	static struct ctype text = {
	    .kind = CTYPE_INT, .size = 1, .has_size = true, .is_char = true};
	static struct ctype pointer = {
	    .kind = CTYPE_POINTER, .size = 8, .has_size = true, .of = &text, .is_complete = true};
	struct ctype *of;
	if (!find_member(t, "_M_dataplus", ret) || !(of = ctype_strip(ret->type)) || !of->is_decl ||
	    next->off != ret->off + pointer.size)
		return false;
	ret->type = &pointer;
	return true;
}

/** What is left of @t when empty structs are omitted: one pointer, at offset 0. */
static bool find_pointer(struct ctype *t, struct ctype_place *ret, unsigned depth)
{
	const struct ctype_member *only = NULL;
	t = ctype_strip(t);
	if (depth > MAX_DEPTH || !ctype_complete(t) || t->size != sizeof(uint64_t))
		return false;
	for (size_t i = 0; i < t->n_members; i++) {
		struct ctype *of = ctype_strip(t->members[i].type);
		if (of && ctype_is_aggregate(of) && of->size == 1)
			continue;
		if (only || t->members[i].off || t->members[i].bit_size)
			return false;
		only = &t->members[i];
	}
	struct ctype *of = only ? ctype_strip(only->type) : NULL;
	if (of && ctype_is_aggregate(of))
		return find_pointer(of, ret, depth + 1);
	*ret = (struct ctype_place){.type = of};
	return of != NULL;
}

static bool is_pointer(const struct ctype_place *p, struct ctype **ret_to)
{
	struct ctype *t = ctype_strip(p->type);
	*ret_to = t && t->kind == CTYPE_POINTER ? ctype_strip(t->of) : NULL;
	return t && t->kind == CTYPE_POINTER && t->has_size && t->size == sizeof(uint64_t);
}

/** Are the members of the types that the class has? */
static bool check(struct cxxclass *c)
{
	struct ctype *to, *other, *second = ctype_strip(c->second.type);
	struct ctype *first = ctype_strip(c->first.type);
	switch (c->kind) {
	case CXXCLASS_COUNTED:
		return first && first->kind == CTYPE_INT && first->size == sizeof(uint64_t);
	case CXXCLASS_TEXT:
		return is_pointer(&c->first, &to) && to && to->is_char && second &&
		       second->kind == CTYPE_INT && second->size == sizeof(uint64_t);
	case CXXCLASS_VECTOR:
		return is_pointer(&c->first, &to) && is_pointer(&c->second, &other) &&
		       to == other && ctype_size(to, &c->element) && c->element;
	case CXXCLASS_POINTER:
		return is_pointer(&c->first, &to);
	default:
		return second && second->kind == CTYPE_BOOL && second->size == 1;
	}
}

bool cxxclass_is_named(const struct ctype *t)
{
	return t && t->kind == CTYPE_STRUCT && str_has_prefix(t->name, STR("std::"));
}

bool cxxclass_read(struct ctype *t, struct cxxclass *ret)
{
	t = ctype_strip(t);
	*ret = (struct cxxclass){0};
	if (!cxxclass_is_named(t) || !ctype_complete(t))
		return false;
	for (size_t i = 0; i < sizeof(classes) / sizeof(classes[0]); i++) {
		if (!str_has_prefix(t->name, str_from(classes[i].name)))
			continue;
		const char *first = classes[i].first, *second = classes[i].second;
		ret->kind = classes[i].kind;
		bool has = !second || find_member(t, second, &ret->second);
		has = has && (first ? find_member(t, first, &ret->first)
				    : find_pointer(t, &ret->first, 0));
		if (!has && ret->kind == CXXCLASS_TEXT && ret->second.type)
			has = find_hidden_pointer(t, &ret->second, &ret->first);
		return has && check(ret);
	}
	return false;
}

struct ctype *cxxclass_pointer(struct ctype *t)
{
	struct cxxclass c;
	return cxxclass_read(t, &c) && c.kind == CXXCLASS_POINTER && !c.first.off ? c.first.type
										  : NULL;
}
