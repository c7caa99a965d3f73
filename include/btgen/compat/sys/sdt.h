/**
 * sys/sdt.h - a drop-in for systemtap's <sys/sdt.h>: the same macros, the probes of btgen/usdt.h.
 *
 *	cc -I.../include/btgen/compat program.c		that is all; no source changes
 *
 *	STAP_PROBE(provider, name), STAP_PROBE1 ... STAP_PROBE12	DTRACE_PROBE, DTRACE_PROBE1 ... 12: the same
 *	STAP_PROBEV(provider, name, args...)		with SDT_USE_VARIADIC defined before this header
 *	STAP_PROBE_ASM, STAP_PROBE_ASM_TEMPLATE, STAP_PROBE_ASM_OPERANDS	a probe inside a larger asm statement
 *	STAP_PROBEn in a .S file			arguments as "4@%eax"
 *
 * Semaphores: define _SDT_HAS_SEMAPHORES before this header and declare each probe's own, as `dtrace -h` does:
 *	extern unsigned short PROVIDER_NAME_semaphore __attribute__((section(".probes")));
 *
 * What is different from the original: arguments are registers or constants (STAP_SDT_ARG_CONSTRAINT, default nr: a
 * memory place may be one that no tracer reads); a struct or a floating-point argument does not compile (see
 * USDT_BITS); C++ starts at C++11. And the notes carry names, the debug information types.
 */
#ifndef _SYS_SDT_H
#define _SYS_SDT_H 1

#ifdef __ASSEMBLER__

#define USDT__S(x) USDT__S_(x)
#define USDT__S_(x) #x
#ifdef USDT_DISABLE
#define USDT__PROBE_S(provider, name, args)
#else
#ifdef _SDT_HAS_SEMAPHORES
#define USDT__SEMA_S(provider, name) USDT__SEMA_S_(provider, name)
#define USDT__SEMA_S_(provider, name) provider##_##name##_semaphore
#else
#define USDT__SEMA_S(provider, name) 0
#endif
/* The note of usdt.h as directives; no R on the base section: the assembler of an old system may not know it. */
#define USDT__PROBE_S(provider, name, args)                                                        \
	990: nop;                                                                                  \
	.pushsection .note.stapsdt, "?", "note";                                                   \
	.balign 4;                                                                                 \
	.4byte 992f-991f, 994f-993f, 3;                                                            \
	991: .asciz "stapsdt";                                                                     \
	992: .balign 4;                                                                            \
	993: .8byte 990b;                                                                          \
	.8byte _.stapsdt.base;                                                                     \
	.8byte USDT__SEMA_S(provider, name);                                                       \
	.asciz USDT__S(provider);                                                                  \
	.asciz USDT__S(name);                                                                      \
	.asciz args;                                                                               \
	994: .balign 4;                                                                            \
	.popsection;                                                                               \
	.ifndef _.stapsdt.base;                                                                    \
	.pushsection .stapsdt.base, "aG", "progbits", .stapsdt.base, comdat;                       \
	.weak _.stapsdt.base;                                                                      \
	.hidden _.stapsdt.base;                                                                    \
	_.stapsdt.base: .space 1;                                                                  \
	.size _.stapsdt.base, 1;                                                                   \
	.popsection;                                                                               \
	.endif
#endif
#define STAP_PROBE(provider, name) USDT__PROBE_S(provider, name, "")
#define STAP_PROBE1(provider, name, a1)                                                            \
	USDT__PROBE_S(provider, name, USDT__S(a1))
#define STAP_PROBE2(provider, name, a1, a2)                                                        \
	USDT__PROBE_S(provider, name, USDT__S(a1 a2))
#define STAP_PROBE3(provider, name, a1, a2, a3)                                                    \
	USDT__PROBE_S(provider, name, USDT__S(a1 a2 a3))
#define STAP_PROBE4(provider, name, a1, a2, a3, a4)                                                \
	USDT__PROBE_S(provider, name, USDT__S(a1 a2 a3 a4))
#define STAP_PROBE5(provider, name, a1, a2, a3, a4, a5)                                            \
	USDT__PROBE_S(provider, name, USDT__S(a1 a2 a3 a4 a5))
#define STAP_PROBE6(provider, name, a1, a2, a3, a4, a5, a6)                                        \
	USDT__PROBE_S(provider, name, USDT__S(a1 a2 a3 a4 a5 a6))
#define STAP_PROBE7(provider, name, a1, a2, a3, a4, a5, a6, a7)                                    \
	USDT__PROBE_S(provider, name, USDT__S(a1 a2 a3 a4 a5 a6 a7))
#define STAP_PROBE8(provider, name, a1, a2, a3, a4, a5, a6, a7, a8)                                \
	USDT__PROBE_S(provider, name, USDT__S(a1 a2 a3 a4 a5 a6 a7 a8))
#define STAP_PROBE9(provider, name, a1, a2, a3, a4, a5, a6, a7, a8, a9)                            \
	USDT__PROBE_S(provider, name, USDT__S(a1 a2 a3 a4 a5 a6 a7 a8 a9))
#define STAP_PROBE10(provider, name, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10)                      \
	USDT__PROBE_S(provider, name, USDT__S(a1 a2 a3 a4 a5 a6 a7 a8 a9 a10))
#define STAP_PROBE11(provider, name, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11)                 \
	USDT__PROBE_S(provider, name, USDT__S(a1 a2 a3 a4 a5 a6 a7 a8 a9 a10 a11))
#define STAP_PROBE12(provider, name, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12)            \
	USDT__PROBE_S(provider, name, USDT__S(a1 a2 a3 a4 a5 a6 a7 a8 a9 a10 a11 a12))

#else /* C, C++ */

#if !defined(USDT_CONSTRAINT) && defined(STAP_SDT_ARG_CONSTRAINT)
#define USDT__QUOTE(x) USDT__QUOTE_(x)
#define USDT__QUOTE_(x) #x
#define USDT_CONSTRAINT USDT__QUOTE(STAP_SDT_ARG_CONSTRAINT)
#endif
#include "../../usdt.h"

/* Names are what the original takes, which is any text. */
#define USDT__SEMA_STAP_CHECK(sema, provider, name)
#define USDT__SEMA_STAP_TYPE(provider, name) usdt_type

/* The asm of the first line says that the program uses the semaphore: link-time optimisation reads no note. */
#ifdef _SDT_HAS_SEMAPHORES
#define USDT__SEMA_STAP(sema, provider, name)                                                      \
	".8byte " USDT__STR(provider) "_" USDT__STR(name) "_semaphore"
#define USDT__USE_SEMA(provider, name, ...) USDT__USE_SEMA_(provider, name)
#define USDT__USE_SEMA_(provider, name)                                                            \
	__asm__ __volatile__("" : : "m"(provider##_##name##_semaphore));
#else
#define USDT__SEMA_STAP(sema, provider, name) ".8byte 0"
#define USDT__USE_SEMA(provider, ...)
#endif
#ifdef USDT_DISABLE
#undef USDT__USE_SEMA
#define USDT__USE_SEMA(provider, ...)
#endif

#define USDT__STAP(n, text, provider, ...)                                                         \
	do {                                                                                       \
		USDT__STATIC_ASSERT(USDT__COUNT(__VA_ARGS__) == n,                                 \
				    "STAP_PROBE" #n " takes " #n " arguments");                    \
		USDT__USE_SEMA(provider, __VA_ARGS__, )                                            \
		USDT__SITE(text, USDT__SEMA_STAP, , provider, __VA_ARGS__);                        \
	} while (0)

#define STAP_PROBE(provider, ...) USDT__STAP(0, USDT__STR(#__VA_ARGS__), provider, __VA_ARGS__)
#define STAP_PROBE1(provider, ...)                                                                 \
	USDT__STAP(1, USDT__STR(#__VA_ARGS__), provider, __VA_ARGS__)
#define STAP_PROBE2(provider, ...)                                                                 \
	USDT__STAP(2, USDT__STR(#__VA_ARGS__), provider, __VA_ARGS__)
#define STAP_PROBE3(provider, ...)                                                                 \
	USDT__STAP(3, USDT__STR(#__VA_ARGS__), provider, __VA_ARGS__)
#define STAP_PROBE4(provider, ...)                                                                 \
	USDT__STAP(4, USDT__STR(#__VA_ARGS__), provider, __VA_ARGS__)
#define STAP_PROBE5(provider, ...)                                                                 \
	USDT__STAP(5, USDT__STR(#__VA_ARGS__), provider, __VA_ARGS__)
#define STAP_PROBE6(provider, ...)                                                                 \
	USDT__STAP(6, USDT__STR(#__VA_ARGS__), provider, __VA_ARGS__)
#define STAP_PROBE7(provider, ...)                                                                 \
	USDT__STAP(7, USDT__STR(#__VA_ARGS__), provider, __VA_ARGS__)
#define STAP_PROBE8(provider, ...)                                                                 \
	USDT__STAP(8, USDT__STR(#__VA_ARGS__), provider, __VA_ARGS__)
#define STAP_PROBE9(provider, ...)                                                                 \
	USDT__STAP(9, USDT__STR(#__VA_ARGS__), provider, __VA_ARGS__)
#define STAP_PROBE10(provider, ...)                                                                \
	USDT__STAP(10, USDT__STR(#__VA_ARGS__), provider, __VA_ARGS__)
#define STAP_PROBE11(provider, ...)                                                                \
	USDT__STAP(11, USDT__STR(#__VA_ARGS__), provider, __VA_ARGS__)
#define STAP_PROBE12(provider, ...)                                                                \
	USDT__STAP(12, USDT__STR(#__VA_ARGS__), provider, __VA_ARGS__)
#ifdef SDT_USE_VARIADIC
#define STAP_PROBEV(provider, ...)                                                                 \
	do {                                                                                       \
		USDT__USE_SEMA(provider, __VA_ARGS__, )                                            \
		USDT__SITE(USDT__STR(#__VA_ARGS__), USDT__SEMA_STAP, , provider, __VA_ARGS__);     \
	} while (0)
#endif

/*
 * Inside an asm statement of the program: the template's text, and operands for it. The site has no name for its
 * arguments: they are whatever the statement says.
 */
#ifdef USDT_DISABLE
#define STAP_PROBE_ASM(provider, name, ...) ""
#define STAP_PROBE_ASM_OPERANDS(n, ...) [usdt_none] "n"(0)
#else
#define STAP_PROBE_ASM(provider, name, ...)                                                        \
	USDT__STAP_ASM(provider, name, USDT__XSTRV(__VA_ARGS__))
#define USDT__XSTRV(...) USDT__STRV(__VA_ARGS__)
#define USDT__STRV(...) #__VA_ARGS__
#define USDT__STAP_ASM(provider, name, args)                                                       \
	"990:\tnop\n" USDT__NOTE(USDT__SEMA_STAP(, provider, name), provider, name, args)
#define STAP_PROBE_ASM_OPERANDS(n, ...) USDT__ASM_OPERANDS##n(__VA_ARGS__)
#endif
#define STAP_PROBE_ASM_TEMPLATE(n) USDT__TEMPLATE##n

#ifdef __cplusplus
extern "C++" {
namespace usdt_detail
{
template <class T> T value(T);
}
}
#define USDT__ASM_VALUE_TYPE(x) __typeof__(::usdt_detail::value(x))
#define USDT__ASM_SIZE(x) (::usdt_detail::arg<USDT__ASM_VALUE_TYPE(x)>::size)
#else
#define USDT__ASM_SIZE(x) USDT__SIZE(*(__typeof__(((void)0, (x))) *)0)
#endif
#define USDT__ASM_OPERAND(k, x) [usdt_s##k] "n"(USDT__ASM_SIZE(x)), [usdt_v##k] USDT_CONSTRAINT(x)
#define USDT__ASM_OPERANDS0() [usdt_none] "n"(0)
#define USDT__ASM_OPERANDS1(a1) USDT__ASM_OPERAND(1, a1)
#define USDT__ASM_OPERANDS2(a1, a2)                                                                \
	USDT__ASM_OPERANDS1(a1), USDT__ASM_OPERAND(2, a2)
#define USDT__ASM_OPERANDS3(a1, a2, a3)                                                            \
	USDT__ASM_OPERANDS2(a1, a2), USDT__ASM_OPERAND(3, a3)
#define USDT__ASM_OPERANDS4(a1, a2, a3, a4)                                                        \
	USDT__ASM_OPERANDS3(a1, a2, a3), USDT__ASM_OPERAND(4, a4)
#define USDT__ASM_OPERANDS5(a1, a2, a3, a4, a5)                                                    \
	USDT__ASM_OPERANDS4(a1, a2, a3, a4), USDT__ASM_OPERAND(5, a5)
#define USDT__ASM_OPERANDS6(a1, a2, a3, a4, a5, a6)                                                \
	USDT__ASM_OPERANDS5(a1, a2, a3, a4, a5), USDT__ASM_OPERAND(6, a6)
#define USDT__ASM_OPERANDS7(a1, a2, a3, a4, a5, a6, a7)                                            \
	USDT__ASM_OPERANDS6(a1, a2, a3, a4, a5, a6), USDT__ASM_OPERAND(7, a7)
#define USDT__ASM_OPERANDS8(a1, a2, a3, a4, a5, a6, a7, a8)                                        \
	USDT__ASM_OPERANDS7(a1, a2, a3, a4, a5, a6, a7), USDT__ASM_OPERAND(8, a8)
#define USDT__ASM_OPERANDS9(a1, a2, a3, a4, a5, a6, a7, a8, a9)                                    \
	USDT__ASM_OPERANDS8(a1, a2, a3, a4, a5, a6, a7, a8), USDT__ASM_OPERAND(9, a9)
#define USDT__ASM_OPERANDS10(a1, a2, a3, a4, a5, a6, a7, a8, a9, a10)                              \
	USDT__ASM_OPERANDS9(a1, a2, a3, a4, a5, a6, a7, a8, a9), USDT__ASM_OPERAND(10, a10)
#define USDT__ASM_OPERANDS11(a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11)                         \
	USDT__ASM_OPERANDS10(a1, a2, a3, a4, a5, a6, a7, a8, a9, a10), USDT__ASM_OPERAND(11, a11)
#define USDT__ASM_OPERANDS12(a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12)                    \
	USDT__ASM_OPERANDS11(a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11), USDT__ASM_OPERAND(12, a12)
#define USDT__TEMPLATE0
#ifdef __x86_64__
#define USDT__TEMPLATE_(k) %c[usdt_s##k]@%q[usdt_v##k]
#else
#define USDT__TEMPLATE_(k) %c[usdt_s##k]@%[usdt_v##k]
#endif
#define USDT__TEMPLATE1 USDT__TEMPLATE_(1)
#define USDT__TEMPLATE2 USDT__TEMPLATE1 USDT__TEMPLATE_(2)
#define USDT__TEMPLATE3 USDT__TEMPLATE2 USDT__TEMPLATE_(3)
#define USDT__TEMPLATE4 USDT__TEMPLATE3 USDT__TEMPLATE_(4)
#define USDT__TEMPLATE5 USDT__TEMPLATE4 USDT__TEMPLATE_(5)
#define USDT__TEMPLATE6 USDT__TEMPLATE5 USDT__TEMPLATE_(6)
#define USDT__TEMPLATE7 USDT__TEMPLATE6 USDT__TEMPLATE_(7)
#define USDT__TEMPLATE8 USDT__TEMPLATE7 USDT__TEMPLATE_(8)
#define USDT__TEMPLATE9 USDT__TEMPLATE8 USDT__TEMPLATE_(9)
#define USDT__TEMPLATE10 USDT__TEMPLATE9 USDT__TEMPLATE_(10)
#define USDT__TEMPLATE11 USDT__TEMPLATE10 USDT__TEMPLATE_(11)
#define USDT__TEMPLATE12 USDT__TEMPLATE11 USDT__TEMPLATE_(12)

#endif /* C, C++ */

#define DTRACE_PROBE STAP_PROBE
#define DTRACE_PROBE1 STAP_PROBE1
#define DTRACE_PROBE2 STAP_PROBE2
#define DTRACE_PROBE3 STAP_PROBE3
#define DTRACE_PROBE4 STAP_PROBE4
#define DTRACE_PROBE5 STAP_PROBE5
#define DTRACE_PROBE6 STAP_PROBE6
#define DTRACE_PROBE7 STAP_PROBE7
#define DTRACE_PROBE8 STAP_PROBE8
#define DTRACE_PROBE9 STAP_PROBE9
#define DTRACE_PROBE10 STAP_PROBE10
#define DTRACE_PROBE11 STAP_PROBE11
#define DTRACE_PROBE12 STAP_PROBE12

#endif /* _SYS_SDT_H */
