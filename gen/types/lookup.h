/**
 * lookup - types, enumerators and enum tables by name, over everything that a run knows.
 *
 * A run has a list of images (the executable, then its libraries) or kernel BTF. A name is looked up in them in
 * that order. When units or images define a name differently, the definition beside the code that the question comes
 * from is meant (lookup_ask_from()), a function's own before its file's; where that is not known or has none, or where
 * several places that ask mean different ones, the first is taken, and a warning names both.
 *
 *	struct lookup lk;
 *	lookup_init(&lk, &arena, &diag);
 *	lookup_add_image(&lk, img);
 *	struct ctype *t;
 *	if (!lookup_type(&lk, STR("struct spdk_nvmf_tgt"), NAME_TYPES, &t))
 *		return lookup_say_unknown(&lk, NULL, STR("struct spdk_nvmf_tgt"), NAME_TYPES);
 */
#ifndef TYPES_LOOKUP_H
#define TYPES_LOOKUP_H

#include "base/map.h"
#include "base/vec.h"
#include "ctype/ctype.h"
#include "dwarf/dwfind.h"

struct dwnear;
struct kbtf;

struct lookup {
	struct arena *arena;
	struct diag *diag;
	VEC(struct img *) images;
	struct kbtf *btf;    /**< asked after the images; NULL: none */
	struct map known;    /**< answers: question -> struct lookup_answer */
	struct map warned;   /**< warnings about differing definitions, each said once */
	struct dwnear *near; /**< lookup_ask_from()'s, or NULL */
	unsigned depth;	     /**< questions that wait for this one */
	bool verbose;	     /**< say which definitions were not compared */
};

void lookup_init(struct lookup *lk, struct arena *a, struct diag *d);
void lookup_add_image(struct lookup *lk, struct img *img);
/** Takes over nothing: @btf lives as long as its arena. */
void lookup_add_btf(struct lookup *lk, struct kbtf *btf);

/**
 * From now on questions come from the code at @near, until the next call; NULL: from nowhere in particular. Its images
 * are asked first. When definitions differ, those of its units are meant. @near is not copied.
 */
void lookup_ask_from(struct lookup *lk, struct dwnear *near);
/** The same for one place, which the user named: it goes before all. False, silently, when no unit is known for it. */
bool lookup_ask_at(struct lookup *lk, struct img *img, uint64_t addr);

/**
 * The definition of @name ("struct x", "x", "ns::x") among @kinds (NAME_*). False, without a message, when no
 * image has one.
 */
bool lookup_type(struct lookup *lk, struct str name, unsigned kinds, struct ctype **ret);
/** The enumerator @name (`NVMF_TGT_RUNNING`, `ns::E::A`): its value and its enum. */
bool lookup_enumerator(struct lookup *lk, struct str name, int64_t *value, struct ctype **of);
/** Only a declaration of @name is known, no definition. */
bool lookup_is_declared(struct lookup *lk, struct str name);
/** The known name that is nearest to @name; empty when none is near. */
struct str lookup_nearest(struct lookup *lk, struct str name, unsigned kinds);

/**
 * Says why @name was not found: no debug information at all (which files, what to install), only declared, a .dwo file
 * that is missing, or simply unknown, with the nearest name. Returns false. @what: "enum", "type".
 */
bool lookup_say_unknown(struct lookup *lk, const struct diag_place *at, const char *what,
			struct str name, unsigned kinds);

#endif
