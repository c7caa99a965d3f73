// Pointees of pointers, as fields of their own.
#include "template/skeleton.h"

#include "ctype/cxxclass.h"
#include "dialect/dialect.h"

enum { MAX_FIELDS = 128 }; // a printf() has fewer arguments
enum { MAX_DEPTH = 8 };	   // of structs in structs that are looked into

struct follower {
	struct skeleton *sk;
	VEC(struct skeleton_field) fields; // of the probe at hand, level after level
	size_t from;			   // of what is found, see struct skeleton_field
};

/** The struct that a pointer of type @t leads to, with its size; NULL when that is none, or not known. @or_array: or the array. */
static struct ctype *struct_behind(struct ctype *t, bool or_array, uint64_t *size)
{
	t = ctype_strip(t);
	if (!t || (t->kind != CTYPE_POINTER && t->kind != CTYPE_REFERENCE))
		return NULL;
	struct ctype *to = ctype_strip(t->of);
	bool has_parts = to && ((ctype_is_aggregate(to) && ctype_complete(to)) ||
				(or_array && to->kind == CTYPE_ARRAY));
	return has_parts && ctype_size(to, size) && *size ? to : NULL;
}

/** @f is a struct of @size bytes from now on, of which as many as fit will travel. */
static void become_struct(struct skeleton_field *f, struct ctype *t, uint64_t size)
{
	f->shape.value = (struct value){.type = t, .n_bytes = size};
}

/** As become_struct(), of a class of the C++ library; the text of a string travels, too. */
static bool become_class(struct skeleton_field *f, struct ctype *t, uint64_t size)
{
	struct cxxclass c;
	if (!cxxclass_read(t, &c))
		return false;
	become_struct(f, t, size);
	f->shape.value.has_text = c.kind == CXXCLASS_TEXT;
	return true;
}

static void find_pointers(struct follower *w, struct ctype *in, uint64_t at, struct safe_word path,
			  bool is_plain_path, unsigned depth)
{
	if (depth > MAX_DEPTH || !ctype_complete(in))
		return;
	for (size_t i = 0; i < in->n_members && w->fields.n < MAX_FIELDS; i++) {
		const struct ctype_member *m = &in->members[i];
		struct ctype *t = ctype_strip(m->type), *to;
		bool is_named = m->name.n && !m->is_base;
		uint64_t size;
		struct safe_word member = word_ident(w->sk->arena, m->name, "member", i);
		bool is_plain = is_plain_path && (!is_named || str_eq(member.s, m->name));
		struct safe_word name = is_named ? word_join(w->sk->arena, path, "", member) : path;
		if (t && ctype_is_aggregate(t)) {
			if (is_named)
				name = word_join(w->sk->arena, name, ".", word_own(""));
			find_pointers(w, t, at + m->off, name, is_plain, depth + 1);
		} else if (is_named && (to = struct_behind(m->type, false, &size)) != NULL) {
			struct skeleton_field f = {.shape = {.name = name.s},
						   .name = name,
						   .from = w->from,
						   .offset = at + m->off,
						   .by_name = is_plain};
			if (!become_class(&f, to, size))
				become_struct(&f, to, size);
			vec_push(w->sk->arena, &w->fields, f);
		}
	}
}

/** What the structs in @fields from @first on have pointers to. */
static void find_level(struct follower *w, size_t first)
{
	size_t end = w->fields.n;
	for (size_t i = first; i < end; i++) {
		struct skeleton_field f = w->fields.v[i];
		w->from = i + 1;
		if (value_has_parts(&f.shape.value))
			find_pointers(w, f.shape.value.type, 0,
				      word_join(w->sk->arena, f.name, "->", word_own("")),
				      f.by_name, 0);
	}
}

/** Numbers that the structs of a record can be, beside all else in it. */
static unsigned room_for_structs(const struct follower *w)
{
	unsigned strings = 0, others = SHAPE_HEAD + (w->sk->calls ? 2 : 0); // see SHAPE_ENTRY
	for (size_t i = 0; i < w->fields.n; i++) {
		const struct value *v = &w->fields.v[i].shape.value;
		strings += v->how == VALUE_STRING || v->has_text;
		others += v->how != VALUE_HIDDEN;
		// The variable that has its address is on the same stack.
		others += value_has_parts(v) && dialect_prints_from_stack(w->sk->version);
	}
	return dialect_printed_numbers(w->sk->version, strings, others);
}

/** Shares the room among the structs of one level and those after them; returns the rest. */
static unsigned share_room(struct follower *w, size_t first, unsigned room, bool is_last)
{
	enum { LEAST = 5 }; // fewer numbers say little: then the first ones get them
	unsigned n = !is_last;
	for (size_t i = first; i < w->fields.n; i++)
		n += value_has_parts(&w->fields.v[i].shape.value);
	for (size_t i = first; i < w->fields.n; i++) {
		struct skeleton_field *f = &w->fields.v[i];
		if (!value_has_parts(&f->shape.value))
			continue;
		unsigned share = room / n--;
		share = share >= LEAST ? share : room < LEAST ? room : LEAST;
		// Of an argument the address travels anyway.
		unsigned own = !f->from ? 0 : dialect_prints_from_stack(w->sk->version) ? 2 : 1;
		uint64_t most = share > own ? (uint64_t)(share - own) * 8 : 0;
		if (f->shape.value.n_bytes > most)
			f->shape.value.n_bytes = most;
		if (most)
			room -= own + (unsigned)((f->shape.value.n_bytes + 7) / 8);
	}
	return room;
}

/** Of what nothing fits an argument is an address again; a member's is shown in its struct. */
static void drop_empty(struct follower *w, size_t first)
{
	size_t n = first;
	for (size_t i = first; i < w->fields.n; i++) {
		struct skeleton_field *f = &w->fields.v[i];
		bool is_empty = value_has_parts(&f->shape.value) && !f->shape.value.n_bytes;
		if (is_empty && f->from)
			continue;
		if (is_empty && f->spread)
			f->shape.value = (struct value){.how = VALUE_HIDDEN};
		else if (is_empty)
			f->shape.value = (struct value){.type = &value_address};
		w->fields.v[n++] = *f;
	}
	w->fields.n = n;
}

static void follow_arguments(struct follower *w, const struct skeleton_probe *p, unsigned levels)
{
	for (size_t i = 0; i < p->n_fields; i++) {
		struct skeleton_field f = p->fields[i];
		uint64_t size;
		// Others need not be loaded if they are not shown.
		struct ctype *pointer = ctype_as_pointer(w->sk->arena, f.arg->type);
		bool is_wanted = levels || f.is_memory || cxxclass_is_named(ctype_pointee(pointer));
		struct ctype *to =
		    is_wanted ? struct_behind(f.arg->type, f.is_memory, &size) : NULL;
		if (f.spread && ctype_size(f.arg->type, &size))
			become_class(&f, ctype_strip(f.arg->type), size);
		if (value_is_address(&f.shape.value) && to && !become_class(&f, to, size) &&
		    (levels || f.is_memory))
			become_struct(&f, to, size);
		vec_push(w->sk->arena, &w->fields, f);
	}
}

static void follow(struct skeleton *sk, struct skeleton_probe *p, unsigned levels)
{
	struct follower w = {.sk = sk};
	size_t first = 0;
	follow_arguments(&w, p, levels);
	unsigned room = room_for_structs(&w);
	for (unsigned level = 1; first < w.fields.n; level++) {
		room = share_room(&w, first, room, level >= levels);
		drop_empty(&w, first);
		size_t end = w.fields.n;
		if (level < levels)
			find_level(&w, first);
		first = end;
	}
	p->fields = w.fields.v;
	p->n_fields = w.fields.n;
}

void follow_pointers(struct skeleton *sk, unsigned levels)
{
	for (size_t i = 0; i < sk->probes.n; i++)
		follow(sk, &sk->probes.v[i], levels);
}
