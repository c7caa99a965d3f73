/**
 * kbtf - types out of BTF: the kernel's (/sys/kernel/btf/vmlinux) or any file's .BTF.
 *
 * libbpf reads the file; names are looked up in one pass over its types and turned into the same
 * ctype as DWARF's. BTF has no scopes and no declarations of structs other than forward ones.
 */
#pragma once

#include "ctype/source.h"
#include "elf/img.h"

struct kbtf;

#define KBTF_KERNEL "/sys/kernel/btf/vmlinux" /**< of the kernel that runs */

/**
 * Opens raw BTF or an ELF file with a .BTF section; an error is reported. Lives in @a; kbtf_close()
 * frees libbpf's part.
 */
bool kbtf_open(struct arena *a, struct diag *d, const char *path, struct kbtf **ret);
/** A module's BTF (/sys/kernel/btf/NAME), whose types go on from those of @base. */
bool kbtf_open_split(struct kbtf *base, const char *path, struct kbtf **ret);
/**
 * The same for raw BTF in memory, which @img has somewhere, of a 64-bit program. NULL, without a
 * message, when it is none, or corrupt.
 */
struct kbtf *kbtf_open_bytes(struct img *img, struct str bytes);
/**
 * Section .BTF of a program, as `pahole -J` writes it after linking; NULL, without a message, when there is none. That of
 * `gcc -gbtf` has the units one after the other, of which libbpf would read the first: it counts as none.
 */
struct kbtf *kbtf_open_program(struct img *img);
void kbtf_close(struct kbtf *k);
/** As a source of types; owned by @k. */
struct type_source *kbtf_source(struct kbtf *k);

struct kbtf_function {
	struct str name;
	struct ctype_member *params; /**< names (maybe empty) and types; NULL is void */
	size_t n_params;
};

/** Function number @id; false, without a message, when that is none, or has more than @max parameters. */
bool kbtf_function(struct kbtf *k, uint32_t id, size_t max, struct kbtf_function *ret);
typedef VEC(struct ctype *) kbtf_types;
/** The typedefs of that name, or NULL: one for each that differs. */
const kbtf_types *kbtf_typedefs(struct kbtf *k, struct str name);
/** The kernel has a struct, union or enum of this tag: a script's own must be renamed. */
bool kbtf_has_tag(struct kbtf *k, struct str tag);
/** The kernel has an enumerator of this name. */
bool kbtf_has_enumerator(struct kbtf *k, struct str name);
