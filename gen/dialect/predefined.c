#include "dialect/predefined.h"

// bpftrace defines BPFTRACE_HAVE_BTF where it finds the kernel's types.
#define KERNEL_BTF "/sys/kernel/btf/vmlinux"

static const struct {
	const char *name;
	const char *value; // NULL: another one in each version
} all[] = {
    {"linux", "1"},
    {"__linux", "1"},
    {"__linux__", "1"},
    {"__gnu_linux__", "1"},
    {"unix", "1"},
    {"__unix", "1"},
    {"__unix__", "1"},
#if defined(__x86_64__)
    {"__x86_64__", "1"},
    {"__x86_64", "1"},
    {"__amd64__", "1"},
    {"__amd64", "1"},
#elif defined(__aarch64__)
    {"__aarch64__", "1"},
#endif
    {"__clang__", "1"},
    {"__llvm__", "1"},
    {"__clang_major__", NULL},
    {"__clang_minor__", NULL},
    {"__clang_patchlevel__", NULL},
    {"__GNUC__", "4"},
    {"__GNUC_MINOR__", "2"},
    {"__STDC__", "1"},
    {"__STDC_HOSTED__", "1"},
    {"__STDC_VERSION__", "201710L"},
    {"__ELF__", "1"},
    {"_LP64", "1"},
    {"__LP64__", "1"},
    {"__BYTE_ORDER__", "1234"},
    {"__ORDER_LITTLE_ENDIAN__", "1234"},
    {"__ORDER_BIG_ENDIAN__", "4321"},
    {"__ORDER_PDP_ENDIAN__", "3412"},
    {"__LITTLE_ENDIAN__", "1"},
    {"__CHAR_BIT__", "8"},
    {"__SCHAR_MAX__", "127"},
    {"__SHRT_MAX__", "32767"},
    {"__INT_MAX__", "2147483647"},
    {"__LONG_MAX__", "9223372036854775807L"},
    {"__LONG_LONG_MAX__", "9223372036854775807LL"},
    {"__SIZE_MAX__", "18446744073709551615UL"},
    {"__POINTER_WIDTH__", "64"},
    {"__SIZEOF_SHORT__", "2"},
    {"__SIZEOF_INT__", "4"},
    {"__SIZEOF_LONG__", "8"},
    {"__SIZEOF_LONG_LONG__", "8"},
    {"__SIZEOF_POINTER__", "8"},
    {"__SIZEOF_SIZE_T__", "8"},
    {"__SIZEOF_INT128__", "16"},
};

void predefined_add(struct pp *pp)
{
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		pp_add_external(pp, all[i].name, all[i].value);
	if (access(KERNEL_BTF, R_OK) == 0)
		pp_add_external(pp, "BPFTRACE_HAVE_BTF", "1");
}
