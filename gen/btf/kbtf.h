/**
 * kbtf - types out of BTF: the kernel's (/sys/kernel/btf/vmlinux) or any file's .BTF.
 *
 * libbpf reads the file; names are looked up in one pass over its types and turned into the same
 * ctype as DWARF's. BTF has no scopes and no declarations of structs other than forward ones.
 */
#ifndef BTF_KBTF_H
#define BTF_KBTF_H

#include "base/diag.h"
#include "ctype/source.h"

struct kbtf;

#define KBTF_KERNEL "/sys/kernel/btf/vmlinux" /**< of the kernel that runs */

/**
 * Opens raw BTF or an ELF file with a .BTF section; an error is reported. Lives in @a; kbtf_close()
 * frees libbpf's part.
 */
bool kbtf_open(struct arena *a, struct diag *d, const char *path, struct kbtf **ret);
/** A module's BTF (/sys/kernel/btf/NAME), whose types go on from those of @base. */
bool kbtf_open_split(struct kbtf *base, const char *path, struct kbtf **ret);
void kbtf_close(struct kbtf *k);
/** As a source of types; owned by @k. */
struct type_source *kbtf_source(struct kbtf *k);
/** The kernel has a struct, union or enum of this tag: a script's own must be renamed. */
bool kbtf_has_tag(struct kbtf *k, struct str tag);

#endif
