/**
 * lookup - types, enumerators and enum tables by name, over everything that a run knows.
 *
 * A run has a list of images (the executable, then its libraries) or kernel BTF. A name is looked up in them in
 * that order; the first definition wins. When one image defines a name differently in different units, the first
 * is taken and a warning names both units.
 *
 *	struct lookup lk;
 *	lookup_init(&lk, &arena, &diag);
 *	lookup_add_image(&lk, img);
 *	struct ctype *t;
 *	if (!lookup_type(&lk, STR("struct spdk_nvmf_tgt"), DWFIND_TYPES, &t))
 *		return lookup_say_unknown(&lk, NULL, STR("struct spdk_nvmf_tgt"), DWFIND_TYPES);
 */
#ifndef TYPES_LOOKUP_H
#define TYPES_LOOKUP_H

#include "base/map.h"
#include "base/vec.h"
#include "types/ctype.h"
#include "types/dwfind.h"

struct kbtf;

struct lookup {
	struct arena *arena;
	struct diag *diag;
	VEC(struct img *) images;
	struct kbtf *btf;  /**< asked after the images; NULL: none */
	struct map known;  /**< answers of lookup_type(): name as asked -> struct ctype */
	struct map warned; /**< names whose differing definitions were reported */
	struct img *hint;  /**< lookup_hint()'s image, or NULL */
	uint64_t hint_addr;
	struct img *near;   /**< lookup_prefer()'s image, or NULL */
	uint64_t near_unit; /**< offset of its unit's top DIE */
};

void lookup_init(struct lookup *lk, struct arena *a, struct diag *d);
void lookup_add_image(struct lookup *lk, struct img *img);
/** Takes over nothing: @btf lives as long as its arena. */
void lookup_add_btf(struct lookup *lk, struct kbtf *btf);

/**
 * Where units of @img define a name differently, the unit that has the code at link-time address @addr is right
 * from now on. False, silently, when no unit is known for it; then it is as before.
 */
bool lookup_prefer(struct lookup *lk, struct img *img, uint64_t addr);
/** The same, but only when it turns out that definitions differ: finding the unit costs time. */
void lookup_hint(struct lookup *lk, struct img *img, uint64_t addr);

/**
 * The definition of @name ("struct x", "x", "ns::x") among @kinds (DWFIND_*). False, without a message, when no
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
