// The look-up that btgen's is measured against: libdw alone.
//
//	dwwalk FILE NAME	every DIE at the top of every unit, until the name is met; FILE has the debug information itself
//	dwwalk FILE --all	looks at every DIE, and at the names of those that are types
//	dwwalk FILE --names	prints the enums and structs that are defined at the top of units, in order
#include <elfutils/libdw.h>
#include <dwarf.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

static size_t n;

static void walk(Dwarf_Die *first)
{
	Dwarf_Die die = *first, child;
	do {
		switch (dwarf_tag(&die)) {
		case DW_TAG_structure_type:
		case DW_TAG_class_type:
		case DW_TAG_union_type:
		case DW_TAG_enumeration_type:
		case DW_TAG_typedef:
		case DW_TAG_base_type:
			n += dwarf_diename(&die) != NULL;
		}
		if (dwarf_child(&die, &child) == 0)
			walk(&child);
	} while (dwarf_siblingof(&die, &die) == 0);
}

static void print_name(Dwarf_Die *die)
{
	int tag = dwarf_tag(die);
	if (tag != DW_TAG_enumeration_type && tag != DW_TAG_structure_type)
		return;
	const char *name = dwarf_diename(die);
	if (name && !dwarf_hasattr(die, DW_AT_declaration))
		printf("%s %s\n", tag == DW_TAG_enumeration_type ? "enum" : "struct", name);
}

int main(int argc, char **argv)
{
	int fd = argc == 3 ? open(argv[1], O_RDONLY) : -1;
	Dwarf *dbg = fd >= 0 ? dwarf_begin(fd, DWARF_C_READ) : NULL;
	if (!dbg)
		return 2;
	int all = strcmp(argv[2], "--all") == 0, names = strcmp(argv[2], "--names") == 0;
	Dwarf_CU *cu = NULL;
	Dwarf_Die unit, die;
	while (dwarf_get_units(dbg, cu, &cu, NULL, NULL, &unit, NULL) == 0) {
		if (dwarf_child(&unit, &die) != 0)
			continue;
		if (all) {
			walk(&die);
			continue;
		}
		do {
			if (names) {
				print_name(&die);
				continue;
			}
			n++;
			const char *name = dwarf_diename(&die);
			if (name && strcmp(name, argv[2]) == 0 &&
			    !dwarf_hasattr(&die, DW_AT_declaration)) {
				printf("0x%llx after %zu\n",
				       (unsigned long long)dwarf_dieoffset(&die), n);
				return 0;
			}
		} while (dwarf_siblingof(&die, &die) == 0);
	}
	if (!names)
		printf(all ? "%zu types\n" : "absent after %zu\n", n);
	return !all && !names;
}
