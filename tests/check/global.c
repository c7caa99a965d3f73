// An argument that stays in memory, as systemtap's macros let the compiler have it.
#include <sys/sdt.h>

int value;

int main(void)
{
	DTRACE_PROBE1(app, global, value);
	return 0;
}
