// Semaphores that can be raised, and some that cannot.
#define _SDT_HAS_SEMAPHORES 1
#include <btgen/compat/sys/sdt.h>
#include <unistd.h>

volatile unsigned short lost_fine_semaphore __attribute__((section(".probes")));
char filler[100000]; // so that what follows is in no page of the file
volatile unsigned short lost_bss_semaphore __attribute__((section(".bss.zzz")));
extern volatile unsigned short lost_constant_semaphore;
__asm__(".pushsection .rodata\n.globl lost_constant_semaphore\nlost_constant_semaphore: .short 0\n.popsection");

// Functions in the order in which they stand here: whose probe is the first, each version of gcc decides for itself otherwise.
#define IN_ORDER __attribute__((noinline, no_reorder)) static

IN_ORDER void fine(int n)
{
	if (lost_fine_semaphore)
		DTRACE_PROBE1(lost, fine, n);
}

IN_ORDER void constant(int n)
{
	if (lost_constant_semaphore)
		DTRACE_PROBE1(lost, constant, n);
}

IN_ORDER void bss(int n)
{
	if (lost_bss_semaphore)
		DTRACE_PROBE1(lost, bss, n);
}

int main(int argc, char **argv)
{
	(void)argv;
	do {
		fine(argc);
		constant(argc);
		bss(argc);
		usleep(20000);
	} while (argc > 1);
	return 0;
}
