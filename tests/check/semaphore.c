// The argument of global.c, and a counter that a tracer raises.
#define _SDT_HAS_SEMAPHORES 1
#include <sys/sdt.h>

int value;
unsigned short app_global_semaphore __attribute__((section(".probes")));

int main(void)
{
	if (app_global_semaphore)
		DTRACE_PROBE1(app, global, value);
	return 0;
}
