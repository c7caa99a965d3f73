// The look-up that btgen's scanner is measured against: libdw, every DIE at the top of every unit, until the name is met.
//
//	dwwalk FILE NAME	FILE has the debug information itself
#include <elfutils/libdw.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char **argv)
{
	int fd = argc == 3 ? open(argv[1], O_RDONLY) : -1;
	Dwarf *dbg = fd >= 0 ? dwarf_begin(fd, DWARF_C_READ) : NULL;
	if (!dbg)
		return 2;
	size_t n = 0;
	Dwarf_CU *cu = NULL;
	Dwarf_Die unit, die;
	while (dwarf_get_units(dbg, cu, &cu, NULL, NULL, &unit, NULL) == 0) {
		if (dwarf_child(&unit, &die) != 0)
			continue;
		do {
			n++;
			const char *name = dwarf_diename(&die);
			if (name && strcmp(name, argv[2]) == 0 &&
			    !dwarf_hasattr(&die, 0x3c /* DW_AT_declaration */)) {
				printf("0x%llx after %zu\n",
				       (unsigned long long)dwarf_dieoffset(&die), n);
				return 0;
			}
		} while (dwarf_siblingof(&die, &die) == 0);
	}
	printf("absent after %zu\n", n);
	return 1;
}
