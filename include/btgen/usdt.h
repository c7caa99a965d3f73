/**
 * usdt.h - static probes (USDT) for C11 and C++11: one header, nothing to link, a nop where nobody looks.
 *
 *	USDT_PROBE(provider, name, args...)		a probe with 0..12 arguments: integers, enums, pointers
 *	USDT_PROBE_LAZY(provider, name, args...)	evaluates its arguments only while a tracer is attached
 *	USDT_ENABLED(provider, name)			is a tracer attached to it? (an expression)
 *
 *	USDT_SEMA_DEFINE(sema); USDT_SEMA_DECLARE(sema);   a semaphore of your own, at file scope: one file
 *	USDT_SEMA_ENABLED(sema)				defines it, others declare it, any probe of the
 *	USDT_PROBE_SEMA(sema, provider, name, args...)	executable or library may share it
 *
 *	USDT_ARG(expr, "name"[, "doc"[, "unit"]])	an argument that is not called after its expression
 *	USDT_BITS(x)					a float or double, as an integer of its size
 *	USDT_DOC(provider, name, "when it fires");	at file scope: a sentence for listings
 *
 *	-DUSDT_DISABLE		no probes: arguments are type-checked, never evaluated; no code, no data
 *	-DUSDT_FAST		a site that newest kernels trace without a trap; as dear as any on others (see there)
 *	-DUSDT_SITE='"nop"'	any other instruction as the site
 *
 * Example:
 *
 *	USDT_PROBE(app, change_state, s->nqn, s->state, USDT_ARG(-rc, "error", "0 when it went well"));
 *
 * A probe is a nop, and a note (.note.stapsdt) which is not loaded and says where the nop is and in which registers
 * the arguments are: the format that bpftrace, perf, gdb, bcc and SystemTap read. `btgen probes` reads more: each
 * argument's C type is in the debug information beside the site, and its name or expression in a second note, which
 * stays after strip. Neither adds a byte to what is loaded. docs/usdt-notes.md has the format.
 *
 * Costs: the nop, and what it takes to have each argument in a register (a constant takes nothing). An expression is
 * evaluated whether or not anybody traces, unless the probe is lazy: then it costs a load, a compare and a branch
 * that is not taken. While traced: a trap into the kernel, 1-2 us.
 *
 * Races: a semaphore is raised before the site is armed and lowered after it; the test reads it without ordering, so
 * a probe fires or does not fire around the moment when a tracer comes or goes.
 *
 * Licence: this header may be copied into any program.
 */
#ifndef BTGEN_USDT_H
#define BTGEN_USDT_H

#ifdef __ASSEMBLER__
#error "btgen/usdt.h: this is for C and C++; assembly has STAP_PROBE of btgen/compat/sys/sdt.h"
#endif
#ifndef __GNUC__
#error "btgen/usdt.h: GCC and clang only"
#endif
#if defined(__cplusplus) && __cplusplus < 201103L
#error "btgen/usdt.h: C++11 or later: compile with -std=c++11 or -std=gnu++11"
#endif
#ifndef USDT_DISABLE
#if !defined(__ELF__) || !defined(__LP64__)
#error "btgen/usdt.h: 64-bit ELF targets only; -DUSDT_DISABLE compiles the probes out"
#endif
#endif

/* ---- what to write instead: mistakes that compile, or whose errors would be those of this header's inside -------- */

#ifdef __cplusplus
#define USDT__STATIC_ASSERT(test, says) static_assert(test, says)
#else
#define USDT__STATIC_ASSERT(test, says) __extension__ _Static_assert(test, says)
#endif

/*
 * Names are looked at as text: most of what is no name is no expression either. In C neither compiler calls the other
 * one's way of looking into a string constant. What clang is given is not defined anywhere, and only sizeof asks for it.
 */
#define USDT__NO_NAME "a USDT probe has a provider and a name: USDT_PROBE(provider, name, args...)"
#define USDT__BAD_NAME                                                                             \
	"a name of USDT is made of letters, digits and _, the first no digit, and has no quotes: " \
	"USDT_PROBE(app, start, x)"
#define USDT__BAD_ARG "USDT_ARG takes a name in quotes: USDT_ARG(x, \"name\")"
#define USDT__BAD_DOC "USDT_DOC takes a sentence in quotes: USDT_DOC(app, start, \"when it fires\")"
/* An argument that is no USDT_ARG, or one whose name is quoted. */
#define USDT__ARG_BEGINS "((void)sizeof(\"USDT_ARG\"), (void)sizeof("
#define USDT__IS_NAMED(text)                                                                       \
	(__builtin_strncmp(text, USDT__ARG_BEGINS, sizeof(USDT__ARG_BEGINS) - 1) != 0 ||           \
	 __builtin_strncmp(text, USDT__ARG_BEGINS "\"", sizeof(USDT__ARG_BEGINS)) == 0)
#ifdef __clang__
#define USDT__HAS(text, c) (!!__builtin_strchr(text, c))
#define USDT__HAS_MARK(text)                                                                       \
	(USDT__HAS(text, ' ') || USDT__HAS(text, '!') || USDT__HAS(text, '"') || USDT__HAS(text, '#') || \
	 USDT__HAS(text, '$') || USDT__HAS(text, '%') || USDT__HAS(text, '&') || USDT__HAS(text, '\'') || \
	 USDT__HAS(text, '(') || USDT__HAS(text, ')') || USDT__HAS(text, '*') || USDT__HAS(text, '+') || \
	 USDT__HAS(text, ',') || USDT__HAS(text, '-') || USDT__HAS(text, '.') || USDT__HAS(text, '/') || \
	 USDT__HAS(text, ':') || USDT__HAS(text, ';') || USDT__HAS(text, '<') || USDT__HAS(text, '=') || \
	 USDT__HAS(text, '>') || USDT__HAS(text, '?') || USDT__HAS(text, '@') || USDT__HAS(text, '[') || \
	 USDT__HAS(text, '\\') || USDT__HAS(text, ']') || USDT__HAS(text, '^') || USDT__HAS(text, '`') || \
	 USDT__HAS(text, '{') || USDT__HAS(text, '|') || USDT__HAS(text, '}') || USDT__HAS(text, '~'))
_Pragma("clang diagnostic push") _Pragma("clang diagnostic ignored \"-Wgcc-compat\"")
char usdt_check_name(const char *text)
    __attribute__((__diagnose_if__(!*text, USDT__NO_NAME, "error"),
		   __diagnose_if__((*text >= '0' && *text <= '9') || USDT__HAS_MARK(text), USDT__BAD_NAME, "error")));
char usdt_check_arg(const char *text)
    __attribute__((__diagnose_if__(!USDT__IS_NAMED(text), USDT__BAD_ARG, "error")));
char usdt_check_doc(const char *text)
    __attribute__((__diagnose_if__(*text != '"', USDT__BAD_DOC, "error")));
_Pragma("clang diagnostic pop")
#define USDT__CHECK_NAME(text) USDT__STATIC_ASSERT(sizeof(usdt_check_name(text)) == 1, "");
#define USDT__CHECK_DOC(text) USDT__STATIC_ASSERT(sizeof(usdt_check_doc(text)) == 1, "");
#define USDT__CHECK_ARG(text) USDT__STATIC_ASSERT(sizeof(usdt_check_arg(text)) == 1, "");
#else
#define USDT__LETTERS "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_"
#define USDT__CHECK_NAME(text)                                                                     \
	USDT__STATIC_ASSERT(sizeof(text) > 1, USDT__NO_NAME);                                      \
	USDT__STATIC_ASSERT(__builtin_strspn(text, USDT__LETTERS) == sizeof(text) - 1 &&           \
				__builtin_strspn(text, "0123456789") == 0,                         \
			    USDT__BAD_NAME "; this is " text);
#define USDT__CHECK_DOC(text)                                                                      \
	USDT__STATIC_ASSERT(__builtin_strspn(text, "\"") == 1, USDT__BAD_DOC);
#define USDT__CHECK_ARG(text) USDT__STATIC_ASSERT(USDT__IS_NAMED(text), USDT__BAD_ARG);
#endif
#define USDT__CHECK_NAMES(provider, name)                                                          \
	USDT__CHECK_NAME(USDT__STR(provider))                                                      \
	USDT__CHECK_NAME(USDT__STR(name))

/* ---- arguments: what may be one, its type, size and sign ------------------------------------------------------ */

/*
 * Every argument becomes two local variables: __usdt_ID_K, a pointer that is never set and is there for its type in
 * the debug information, and __usdt_vK with the value. ID is unique in the file and is in the btgen note too. In C the
 * type of that pointer has a name, usdt_type__PROVIDER__NAME__K, which `pahole -J` writes into .BTF.
 */
#if defined(__clang__) && !defined(__OPTIMIZE__)
/* clang -O0 forgets a variable that is never set, when it inlines (always_inline). */
#ifdef __cplusplus
#define USDT__UNSET __attribute__((__unused__)) = nullptr
#else
#define USDT__UNSET __attribute__((__unused__)) = 0
#endif
#else
#define USDT__UNSET __attribute__((__unused__))
#endif

/* What USDT__KIND says of a char *, and one more of a const char *. */
#ifdef __CHAR_UNSIGNED__
#define USDT__TEXT_KIND 7
#else
#define USDT__TEXT_KIND 4
#endif

#ifdef __cplusplus
#define USDT__VALUE(id, k, x)                                                                      \
	USDT__STATIC_ASSERT(!USDT__IS_OBJECT(__typeof__((x))) && !USDT__IS_VOID(__typeof__((x))),  \
		      "USDT argument " #k " is an object, or void: pass an object by its address, or a number in it"); \
	auto __usdt_v##k = (x);                                                                    \
	USDT__STATIC_ASSERT(::usdt_detail::arg<__typeof__(__usdt_v##k)>::fits ||                   \
			  USDT__IS_OBJECT(__typeof__(__usdt_v##k)),                                \
		      "USDT argument " #k " is no integer, enum or pointer of at most 8 bytes: pass " \
		      "a float or double as USDT_BITS(x)");
#define USDT__IS_POINTER(v) (::usdt_detail::arg<__typeof__(v)>::pointer)
#define USDT__ADDRESS(v) (::usdt_detail::address(v))
/*
 * Asked before the value is copied, which a class may forbid, and not of a template, which takes neither an array of
 * variable length nor a statement expression.
 */
#define USDT__IS_OBJECT(type) (__is_class(type) || __is_union(type))
#ifdef __has_builtin
#if __has_builtin(__is_same)
#define USDT__IS_VOID(type) __is_same(type, void)
#endif
#endif
#ifndef USDT__IS_VOID
#define USDT__IS_VOID(type) false
#endif
#define USDT__CHECK_TYPE(k, x)
#define USDT__MEMORY(p) static_cast<const volatile char(*)[]>(p)
#define USDT__TYPE(id, type, k, x)                                                                 \
	__extension__ __typeof__((x)) *__usdt_##id##_##k USDT__UNSET;
#define USDT__SIZE(v) (::usdt_detail::arg<__typeof__(v)>::size)
#define USDT__KIND(v) (::usdt_detail::arg<__typeof__(v)>::kind)

extern "C++" {
namespace usdt_detail
{
/* size is negative for a signed type, as in the note. */
template <class T> struct int_arg {
	static constexpr bool fits = true, pointer = false;
	static constexpr int size = T(-1) < T(1) ? -int(sizeof(T)) : int(sizeof(T));
	static constexpr int kind = 1;
};
template <class T, bool Enum> struct enum_arg {
	static constexpr bool fits = false, pointer = false;
	static constexpr int size = 0, kind = 0;
};
template <int Kind> struct pointer_arg {
	static constexpr bool fits = true, pointer = true;
	static constexpr int size = int(sizeof(void *)), kind = Kind;
};
template <class T> struct arg : enum_arg<T, __is_enum(T)> {};
template <> struct arg<char *> : pointer_arg<USDT__TEXT_KIND> {};
template <> struct arg<const char *> : pointer_arg<USDT__TEXT_KIND + 1> {};
template <class T> struct arg<T *> : pointer_arg<6> {};
template <> struct arg<decltype(nullptr)> : pointer_arg<0> {}; /* of any pointer */
template <> struct arg<bool> {
	static constexpr bool fits = true, pointer = false;
	static constexpr int size = int(sizeof(bool)), kind = 3;
};
template <> struct arg<char> : int_arg<char> {
	static constexpr int kind = 2;
};
template <> struct arg<signed char> : int_arg<signed char> {};
template <> struct arg<unsigned char> : int_arg<unsigned char> {};
#ifdef __cpp_char8_t
template <> struct arg<char8_t> : int_arg<char8_t> {};
#endif
template <> struct arg<char16_t> : int_arg<char16_t> {};
template <> struct arg<char32_t> : int_arg<char32_t> {};
template <> struct arg<wchar_t> : int_arg<wchar_t> {};
template <> struct arg<short> : int_arg<short> {};
template <> struct arg<unsigned short> : int_arg<unsigned short> {};
template <> struct arg<int> : int_arg<int> {};
template <> struct arg<unsigned> : int_arg<unsigned> {};
template <> struct arg<long> : int_arg<long> {};
template <> struct arg<unsigned long> : int_arg<unsigned long> {};
__extension__ template <> struct arg<long long> : int_arg<long long> {};
__extension__ template <> struct arg<unsigned long long> : int_arg<unsigned long long> {};
template <class T> struct enum_arg<T, true> : arg<__underlying_type(T)> {
	static constexpr int kind = 1;
};
template <class T> inline __attribute__((__always_inline__, __artificial__)) const volatile void *address(T *p)
{
	return reinterpret_cast<const volatile void *>(p);
}
template <class T> inline __attribute__((__always_inline__, __artificial__)) const volatile void *address(const T &)
{
	return nullptr;
}
} /* namespace usdt_detail */
} /* extern "C++" */

#else /* C */
#define USDT__VALUE(id, k, x)                                                                      \
	__extension__ __typeof__(*__usdt_##id##_##k) __usdt_v##k = (x);                            \
	USDT__STATIC_ASSERT(USDT__IS_INT(__usdt_v##k) || USDT__CLASS(__usdt_v##k) == 5 ||          \
				sizeof(__usdt_v##k) > 8,                                           \
			    USDT__NO_VALUE(k));
#define USDT__NO_VALUE(k)                                                                          \
	"USDT argument " #k " is no integer, enum or pointer of at most 8 bytes: pass a float or "  \
	"double as USDT_BITS(x), a struct by its address"
/* Asked before the type of what is too large, or nothing, leads to other errors. */
#define USDT__CHECK_TYPE(k, x)                                                                     \
	USDT__STATIC_ASSERT(!__builtin_types_compatible_p(__typeof__(((void)0, (x))), void),       \
			    "USDT argument " #k " is void: pass a value");                         \
	USDT__STATIC_ASSERT(sizeof(__typeof__(((void)0, (x)))) <= 8, USDT__NO_VALUE(k));
/* 1 integer, 2 char, 3 enum, 4 bool, 5 pointer: GCC's typeclass.h */
#define USDT__CLASS(x) __builtin_classify_type(x)
#define USDT__IS_INT(x) (USDT__CLASS(x) >= 1 && USDT__CLASS(x) <= 4)
#define USDT__INT(x) __builtin_choose_expr(USDT__IS_INT(x), (x), 0u)
#define USDT__IS_POINTER(v) (USDT__CLASS(v) == 5)
#define USDT__MEMORY(p) ((const char(*)[])(unsigned long)(p))
#define USDT__IS(v, type) (__extension__ __builtin_types_compatible_p(__typeof__(v), type))
#define USDT__KIND(v)                                                                              \
	(USDT__IS(v, char *)	     ? USDT__TEXT_KIND                                             \
	 : USDT__IS(v, const char *) ? USDT__TEXT_KIND + 1                                         \
	 : USDT__IS_POINTER(v)	     ? 6                                                           \
				     : 1 + USDT__IS(v, char) + 2 * USDT__IS(v, _Bool))
#define USDT__ADDRESS(v) __builtin_choose_expr(USDT__IS_POINTER(v), (v), (const void *)0)
#define USDT__SIZE(v)                                                                              \
	((__typeof__(USDT__INT(v)))-1 < (__typeof__(USDT__INT(v)))1 ? -(int)sizeof(v) :            \
								      (int)sizeof(v))
/* After a comma an array is a pointer, a constant is a plain value, and a char stays a char. */
#ifdef __clang__
#define USDT__TYPE(id, type, k, x)                                                                 \
	__extension__ typedef __typeof__(((void)0, (x))) *type##__##k __attribute__((__unused__)); \
	type##__##k __usdt_##id##_##k USDT__UNSET;
#else
/*
 * GCC gives a bit-field a type of its own, which has no name in the debug information. Such a type does not hold
 * the largest number of its size; the argument is then an int, or a long long when the field is wider than that.
 */
#define USDT__TYPE(id, type, k, x)                                                                 \
	__extension__ __typeof__(((void)0, (x))) *__usdt_t##k __attribute__((__unused__));         \
	__extension__ typedef __typeof__(__builtin_choose_expr(                                    \
	    USDT__IS_BITS(__typeof__(USDT__INT(*__usdt_t##k))),                                    \
	    __builtin_choose_expr(sizeof(*__usdt_t##k) <= 4, USDT__INT(*__usdt_t##k) + 0,          \
				  USDT__INT(*__usdt_t##k) + 0LL),                                  \
	    *__usdt_t##k)) *type##__##k __attribute__((__unused__));                               \
	type##__##k __usdt_##id##_##k USDT__UNSET;
#define USDT__IS_BITS(type)                                                                        \
	(!__builtin_types_compatible_p(type, _Bool) &&                                             \
	 (unsigned long long)(type)(~0ULL >> (65 - 8 * sizeof(type))) !=                           \
	     ~0ULL >> (65 - 8 * sizeof(type)))
#endif
#endif

#define USDT__DECL(id, type, k, x)                                                                 \
	USDT__STATIC_ASSERT(sizeof(#x) > 1,                                                        \
			    "USDT argument " #k " is empty: a comma too many, or a macro for nothing"); \
	USDT__CHECK_ARG(#x)                                                                        \
	USDT__CHECK_TYPE(k, x)                                                                     \
	USDT__TYPE(id, type, k, x)                                                                 \
	USDT__VALUE(id, k, x)

#define USDT__ARGS0(id, type)
#define USDT__ARGS1(id, type, a1) USDT__ARGS0(id, type) USDT__DECL(id, type, 1, a1)
#define USDT__ARGS2(id, type, a1, a2) USDT__ARGS1(id, type, a1) USDT__DECL(id, type, 2, a2)
#define USDT__ARGS3(id, type, a1, a2, a3) USDT__ARGS2(id, type, a1, a2) USDT__DECL(id, type, 3, a3)
#define USDT__ARGS4(id, type, a1, a2, a3, a4) USDT__ARGS3(id, type, a1, a2, a3) USDT__DECL(id, type, 4, a4)
#define USDT__ARGS5(id, type, a1, a2, a3, a4, a5) USDT__ARGS4(id, type, a1, a2, a3, a4) USDT__DECL(id, type, 5, a5)
#define USDT__ARGS6(id, type, a1, a2, a3, a4, a5, a6) USDT__ARGS5(id, type, a1, a2, a3, a4, a5) USDT__DECL(id, type, 6, a6)
#define USDT__ARGS7(id, type, a1, a2, a3, a4, a5, a6, a7) USDT__ARGS6(id, type, a1, a2, a3, a4, a5, a6) USDT__DECL(id, type, 7, a7)
#define USDT__ARGS8(id, type, a1, a2, a3, a4, a5, a6, a7, a8) USDT__ARGS7(id, type, a1, a2, a3, a4, a5, a6, a7) USDT__DECL(id, type, 8, a8)
#define USDT__ARGS9(id, type, a1, a2, a3, a4, a5, a6, a7, a8, a9) USDT__ARGS8(id, type, a1, a2, a3, a4, a5, a6, a7, a8) USDT__DECL(id, type, 9, a9)
#define USDT__ARGS10(id, type, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10) USDT__ARGS9(id, type, a1, a2, a3, a4, a5, a6, a7, a8, a9) USDT__DECL(id, type, 10, a10)
#define USDT__ARGS11(id, type, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11) USDT__ARGS10(id, type, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10) USDT__DECL(id, type, 11, a11)
#define USDT__ARGS12(id, type, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12) USDT__ARGS11(id, type, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11) USDT__DECL(id, type, 12, a12)

/*
 * What a pointer argument points to is read by the tracer: the compiler must have stored it by then. Without this GCC
 * does not store what the program itself will not read (a local buffer), or stores it after the site. An input in memory
 * says so: it forces nothing into memory that has no address and, unlike a clobber, nothing out of registers. To clang
 * any volatile asm reads memory.
 */
#ifdef __clang__
#define USDT__READ(k)
#else
#define USDT__READ(k)                                                                              \
	if (USDT__IS_POINTER(__usdt_v##k))                                                         \
		__asm__ __volatile__(                                                              \
		    "" : : "m"(*USDT__MEMORY(USDT__ADDRESS(__usdt_v##k))));
#endif
#define USDT__READS0
#define USDT__READS1 USDT__READS0 USDT__READ(1)
#define USDT__READS2 USDT__READS1 USDT__READ(2)
#define USDT__READS3 USDT__READS2 USDT__READ(3)
#define USDT__READS4 USDT__READS3 USDT__READ(4)
#define USDT__READS5 USDT__READS4 USDT__READ(5)
#define USDT__READS6 USDT__READS5 USDT__READ(6)
#define USDT__READS7 USDT__READS6 USDT__READ(7)
#define USDT__READS8 USDT__READS7 USDT__READ(8)
#define USDT__READS9 USDT__READS8 USDT__READ(9)
#define USDT__READS10 USDT__READS9 USDT__READ(10)
#define USDT__READS11 USDT__READS10 USDT__READ(11)
#define USDT__READS12 USDT__READS11 USDT__READ(12)

/*
 * Their places for the note: "-4@%rax 8@$0", and the operands that the compiler puts there. A register always has its
 * 64-bit name (q): the size in front says how much of it counts, and gdb does not know the 8-bit name of %r8 to %r15.
 */
#ifdef __x86_64__
#define USDT__PLACE(k) "%c[usdt_s" #k "]@%q[usdt_v" #k "]"
#else
#define USDT__PLACE(k) "%c[usdt_s" #k "]@%[usdt_v" #k "]"
#endif
#define USDT__PLACES0 ""
#define USDT__PLACES1 USDT__PLACE(1)
#define USDT__PLACES2 USDT__PLACES1 " " USDT__PLACE(2)
#define USDT__PLACES3 USDT__PLACES2 " " USDT__PLACE(3)
#define USDT__PLACES4 USDT__PLACES3 " " USDT__PLACE(4)
#define USDT__PLACES5 USDT__PLACES4 " " USDT__PLACE(5)
#define USDT__PLACES6 USDT__PLACES5 " " USDT__PLACE(6)
#define USDT__PLACES7 USDT__PLACES6 " " USDT__PLACE(7)
#define USDT__PLACES8 USDT__PLACES7 " " USDT__PLACE(8)
#define USDT__PLACES9 USDT__PLACES8 " " USDT__PLACE(9)
#define USDT__PLACES10 USDT__PLACES9 " " USDT__PLACE(10)
#define USDT__PLACES11 USDT__PLACES10 " " USDT__PLACE(11)
#define USDT__PLACES12 USDT__PLACES11 " " USDT__PLACE(12)

#ifdef USDT_CONSTRAINT
#define USDT__OTHER_CONSTRAINT
#else
/* Registers and constants only. With memory allowed, compilers also pick places that no tracer can read (a symbol). */
#define USDT_CONSTRAINT "nr"
#endif
#define USDT__OPERAND(k)                                                                           \
	[usdt_s##k] "n"(USDT__SIZE(__usdt_v##k)), [usdt_v##k] USDT_CONSTRAINT(__usdt_v##k)
#define USDT__OPERANDS0
#define USDT__OPERANDS1 , USDT__OPERAND(1)
#define USDT__OPERANDS2 USDT__OPERANDS1, USDT__OPERAND(2)
#define USDT__OPERANDS3 USDT__OPERANDS2, USDT__OPERAND(3)
#define USDT__OPERANDS4 USDT__OPERANDS3, USDT__OPERAND(4)
#define USDT__OPERANDS5 USDT__OPERANDS4, USDT__OPERAND(5)
#define USDT__OPERANDS6 USDT__OPERANDS5, USDT__OPERAND(6)
#define USDT__OPERANDS7 USDT__OPERANDS6, USDT__OPERAND(7)
#define USDT__OPERANDS8 USDT__OPERANDS7, USDT__OPERAND(8)
#define USDT__OPERANDS9 USDT__OPERANDS8, USDT__OPERAND(9)
#define USDT__OPERANDS10 USDT__OPERANDS9, USDT__OPERAND(10)
#define USDT__OPERANDS11 USDT__OPERANDS10, USDT__OPERAND(11)
#define USDT__OPERANDS12 USDT__OPERANDS11, USDT__OPERAND(12)

/* What each is, four bits an argument, for when the debug information is gone: docs/usdt-notes.md, "Type 1". */
#define USDT__KIND_AT(k) (1L * USDT__KIND(__usdt_v##k) << (4 * (k - 1)))
#define USDT__KINDS0 0L
#define USDT__KINDS1 USDT__KINDS0 | USDT__KIND_AT(1)
#define USDT__KINDS2 USDT__KINDS1 | USDT__KIND_AT(2)
#define USDT__KINDS3 USDT__KINDS2 | USDT__KIND_AT(3)
#define USDT__KINDS4 USDT__KINDS3 | USDT__KIND_AT(4)
#define USDT__KINDS5 USDT__KINDS4 | USDT__KIND_AT(5)
#define USDT__KINDS6 USDT__KINDS5 | USDT__KIND_AT(6)
#define USDT__KINDS7 USDT__KINDS6 | USDT__KIND_AT(7)
#define USDT__KINDS8 USDT__KINDS7 | USDT__KIND_AT(8)
#define USDT__KINDS9 USDT__KINDS8 | USDT__KIND_AT(9)
#define USDT__KINDS10 USDT__KINDS9 | USDT__KIND_AT(10)
#define USDT__KINDS11 USDT__KINDS10 | USDT__KIND_AT(11)
#define USDT__KINDS12 USDT__KINDS11 | USDT__KIND_AT(12)
/* GCC prints no number of 64 bits there. */
#define USDT__KINDS(kinds) [usdt_k] "n"((kinds) & 0xffffff), [usdt_l] "n"((kinds) >> 24)

/* With the probes compiled out. */
#define USDT__USE0
#define USDT__USE1 USDT__USE0 (void)__usdt_v1;
#define USDT__USE2 USDT__USE1 (void)__usdt_v2;
#define USDT__USE3 USDT__USE2 (void)__usdt_v3;
#define USDT__USE4 USDT__USE3 (void)__usdt_v4;
#define USDT__USE5 USDT__USE4 (void)__usdt_v5;
#define USDT__USE6 USDT__USE5 (void)__usdt_v6;
#define USDT__USE7 USDT__USE6 (void)__usdt_v7;
#define USDT__USE8 USDT__USE7 (void)__usdt_v8;
#define USDT__USE9 USDT__USE8 (void)__usdt_v9;
#define USDT__USE10 USDT__USE9 (void)__usdt_v10;
#define USDT__USE11 USDT__USE10 (void)__usdt_v11;
#define USDT__USE12 USDT__USE11 (void)__usdt_v12;

/* ---- the site ------------------------------------------------------------------------------------------------- */

#define USDT__STR(x) #x
#define USDT__XSTR(x) USDT__STR(x)

/*
 * -DUSDT_FAST (x86-64): a nop, which the note names and every tool and kernel can trace, and a 10-byte nop behind it. Kernels
 * from July 2026 on replace the latter by a call instead of a trap, and step over the red zone themselves, if the tracing
 * library knows the pair and attaches to the second. From the sources of the kernel's selftests and of libbpf/usdt, not
 * measured: on Linux 6.18 all traces are at the first nop, at the usual 690-705 ns a hit.
 *
 * -DUSDT_FAST=5: a 5-byte nop alone, which Linux 6.18 up to the change replaces by a call. Measured on 6.18, a bpftrace
 * program that counts a probe with two arguments (`make bench`): 530-555 ns a hit (one run, and 0.76 to 0.79 of a one-byte
 * nop's; on a busy machine 640 and 1190). A kernel before that single-steps it: on 6.1 it costs 1.4 to 15 times as much as a
 * one-byte nop. That call writes below the stack pointer, where a leaf function may have variables (the red zone): the
 * site therefore steps over it and back. That is two instructions, also while nobody traces (not measurable: 1.6 ns for
 * a call of a function with such a site or with a nop); a debugger that unwinds by CFI is 128 bytes off at the site. A
 * program that is compiled with -mno-red-zone defines USDT_NO_RED_ZONE too and does without.
 */
#ifdef USDT_FAST
#if !defined(__x86_64__) || defined(USDT_SITE)
#error "btgen/usdt.h: USDT_FAST is for x86-64 and without USDT_SITE"
#endif
#if USDT_FAST == 5
#ifdef USDT__OTHER_CONSTRAINT
#error "btgen/usdt.h: USDT_FAST=5 moves the stack pointer: arguments in memory (USDT_CONSTRAINT) would be misread"
#endif
#define USDT_SITE ".byte 0x0f, 0x1f, 0x44, 0x00, 0x00"
#ifndef USDT_NO_RED_ZONE
#define USDT__BEFORE "\tlea -128(%%rsp), %%rsp\n"
#define USDT__AFTER "\tlea 128(%%rsp), %%rsp\n"
#endif
#elif USDT_FAST == 1
#define USDT_SITE ".byte 0x90, 0x66, 0x2e, 0x0f, 0x1f, 0x84, 0x00, 0x00, 0x00, 0x00, 0x00"
#else
#error "btgen/usdt.h: USDT_FAST has no value, or 5"
#endif
#endif
#ifndef USDT_SITE
#define USDT_SITE "nop"
#endif
#ifndef USDT__BEFORE
#define USDT__BEFORE
#define USDT__AFTER
#endif

/* The base section must stay although nothing refers to it; linkers drop it otherwise, and addresses go wrong. */
#if defined(__has_attribute)
#if __has_attribute(retain)
#define USDT__RETAIN "R"
#endif
#endif
#ifndef USDT__RETAIN
#define USDT__RETAIN ""
#endif

/* Seen as one instruction when the compiler decides on inlining. */
#if defined(__clang__) || __GNUC__ >= 9
#define USDT__ASM __asm__ __inline__ __volatile__
#else
#define USDT__ASM __asm__ __volatile__
#endif

/* Notes go into the section group of their function (?), so that they go away with it. */
#define USDT__NOTE(sema, provider, name, places)                                                   \
	"\t.pushsection .note.stapsdt,\"?\",\"note\"\n"                                            \
	"\t.balign 4\n"                                                                            \
	"\t.4byte 992f-991f, 994f-993f, 3\n"                                                       \
	"991:\t.asciz \"stapsdt\"\n"                                                               \
	"992:\t.balign 4\n"                                                                        \
	"993:\t.8byte 990b\n"                                                                      \
	"\t.8byte _.stapsdt.base\n"                                                                \
	"\t" sema "\n"                                                                             \
	"\t.asciz " USDT__XSTR(USDT__STR(provider)) "\n"                                           \
	"\t.asciz " USDT__XSTR(USDT__STR(name)) "\n"                                               \
	"\t.asciz \"" places "\"\n"                                                                \
	"994:\t.balign 4\n"                                                                        \
	"\t.popsection\n"                                                                          \
	"\t.ifndef _.stapsdt.base\n"                                                               \
	"\t.pushsection .stapsdt.base,\"aG" USDT__RETAIN "\",\"progbits\",.stapsdt.base,comdat\n"  \
	"\t.weak _.stapsdt.base\n"                                                                 \
	"\t.hidden _.stapsdt.base\n"                                                               \
	"_.stapsdt.base: .space 1\n"                                                               \
	"\t.size _.stapsdt.base, 1\n"                                                              \
	"\t.popsection\n"                                                                          \
	"\t.endif\n"

/*
 * The arguments as the program spells them: notes of our own, beside the first one. The text comes first, in an asm
 * statement of its own, because % and { mean something where an asm has operands. The compiler keeps the two in order
 * and has evaluated the arguments, so 989b is this text; both have the id, for readers that do not trust that.
 *
 * An asm without operands takes any text, but GCC believes that it changes memory, and would reload after the probe
 * what it had in registers. So GCC gets that form only when it must. (Not accepted by GCC: %[ or %x[ in an argument.)
 */
#define USDT__TEXT(id, text, provider, name)                                                       \
	"\t.pushsection .note.btgen,\"?\",\"note\"\n"                                              \
	"\t.balign 4\n"                                                                            \
	"\t.4byte 6, 988f-989f, 2\n"                                                               \
	"\t.asciz \"btgen\"\n"                                                                     \
	"\t.balign 4\n"                                                                            \
	"989:\t.4byte " #id ", " USDT__XSTR(__LINE__) "\n"                                         \
	"\t.asciz " USDT__XSTR(USDT__STR(provider)) "\n"                                           \
	"\t.asciz " USDT__XSTR(USDT__STR(name)) "\n"                                               \
	"\t.asciz " USDT__XSTR(__FILE__) "\n"                                                      \
	"\t.asciz " text "\n"                                                                      \
	"988:\t.balign 4\n"                                                                        \
	"\t.popsection\n"
#define USDT__SITE_NOTE(id)                                                                        \
	"\t.pushsection .note.btgen,\"?\",\"note\"\n"                                              \
	"\t.balign 4\n"                                                                            \
	"\t.4byte 6, 24, 1\n"                                                                      \
	"\t.asciz \"btgen\"\n"                                                                     \
	"\t.balign 4\n"                                                                            \
	"987:\t.8byte 990b\n"                                                                      \
	"\t.4byte 989b-987b, " #id "\n"                                                            \
	"\t.4byte %c[usdt_k], %c[usdt_l]\n"                                                         \
	"\t.popsection\n"
#ifdef __clang__
#define USDT__PUT_TEXT(text, note) USDT__ASM(note)
#else
#define USDT__PUT_TEXT(text, note)                                                                 \
	if (!__builtin_strchr(text __FILE__, '%') && !__builtin_strchr(text __FILE__, '{'))        \
		USDT__ASM(note :);                                                                 \
	else                                                                                       \
		USDT__ASM(note)
#endif

/*
 * Which semaphore a site has. An implicit one is defined where the program asks for it (USDT_ENABLED, USDT_PROBE_LAZY);
 * every other site of that probe refers to it weakly, so that all of them share it, and have none when nobody asks.
 */
#define USDT__SEMA_NAME(provider, name) "__usdt_sema." USDT__STR(provider) "." USDT__STR(name)
#define USDT__SEMA_QUOTED(provider, name)                                                          \
	"\"__usdt_sema." USDT__STR(provider) "." USDT__STR(name) "\""
#define USDT__SEMA_IMPLICIT(sema, provider, name)                                                  \
	".weak " USDT__SEMA_QUOTED(provider, name) "\n"                                            \
	"\t.hidden " USDT__SEMA_QUOTED(provider, name) "\n"                                        \
	"\t.8byte " USDT__SEMA_QUOTED(provider, name)
#define USDT__SEMA_EXPLICIT(sema, provider, name) ".8byte __usdt_sema_" USDT__STR(sema)
/* In C, the type of argument K has this name, __K: BTF has types by name only. */
#define USDT__SEMA_IMPLICIT_TYPE(provider, name) usdt_type__##provider##__##name
#define USDT__SEMA_EXPLICIT_TYPE(provider, name) usdt_type__##provider##__##name
#define USDT__SEMA_IMPLICIT_CHECK(sema, provider, name) USDT__CHECK_NAMES(provider, name)
/* One that is not declared would be the linker's business, which knows no line. */
#define USDT__SEMA_EXPLICIT_CHECK(sema, provider, name)                                            \
	USDT__CHECK_NAMES(provider, name)                                                          \
	USDT__STATIC_ASSERT(sizeof(__usdt_sema_##sema) == 2, "");

/* How many arguments follow the name; 13 for more than twelve (up to thirty). */
#define USDT__COUNT(...)                                                                           \
	USDT__COUNT_(__VA_ARGS__, 13, 13, 13, 13, 13, 13, 13, 13, 13, 13, 13, 13, 13, 13, 13, 13, 13, 13, \
		     12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0, )
#define USDT__COUNT_(name, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14, a15, a16,  \
		     a17, a18, a19, a20, a21, a22, a23, a24, a25, a26, a27, a28, a29, a30, n, ...) \
	n
#define USDT__CAT(a, b) USDT__CAT_(a, b)
#define USDT__CAT_(a, b) a##b

#define USDT__SITE(text, kind, sema, provider, ...)                                                \
	USDT__SITE_(__COUNTER__, USDT__COUNT(__VA_ARGS__), text, kind, sema, provider, __VA_ARGS__)
#define USDT__SITE_(id, n, text, kind, sema, provider, ...)                                        \
	USDT__CAT(USDT__SITE, n)(id, text, kind, sema, provider, __VA_ARGS__)

#define USDT__SITE0(id, text, kind, sema, provider, name)                                          \
	USDT__EMIT(id, 0, USDT__ARGS0(id, kind##_TYPE(provider, name)), text, kind, sema, provider, name)
#define USDT__SITE1(id, text, kind, sema, provider, name, a1)                                      \
	USDT__EMIT(id, 1, USDT__ARGS1(id, kind##_TYPE(provider, name), a1), text, kind, sema, provider, name)
#define USDT__SITE2(id, text, kind, sema, provider, name, a1, a2)                                  \
	USDT__EMIT(id, 2, USDT__ARGS2(id, kind##_TYPE(provider, name), a1, a2), text, kind, sema, provider, name)
#define USDT__SITE3(id, text, kind, sema, provider, name, a1, a2, a3)                              \
	USDT__EMIT(id, 3, USDT__ARGS3(id, kind##_TYPE(provider, name), a1, a2, a3), text, kind, sema, provider, name)
#define USDT__SITE4(id, text, kind, sema, provider, name, a1, a2, a3, a4)                          \
	USDT__EMIT(id, 4, USDT__ARGS4(id, kind##_TYPE(provider, name), a1, a2, a3, a4), text, kind, sema, provider, name)
#define USDT__SITE5(id, text, kind, sema, provider, name, a1, a2, a3, a4, a5)                      \
	USDT__EMIT(id, 5, USDT__ARGS5(id, kind##_TYPE(provider, name), a1, a2, a3, a4, a5), text, kind, sema, provider, name)
#define USDT__SITE6(id, text, kind, sema, provider, name, a1, a2, a3, a4, a5, a6)                  \
	USDT__EMIT(id, 6, USDT__ARGS6(id, kind##_TYPE(provider, name), a1, a2, a3, a4, a5, a6), text, kind, sema, provider, name)
#define USDT__SITE7(id, text, kind, sema, provider, name, a1, a2, a3, a4, a5, a6, a7)              \
	USDT__EMIT(id, 7, USDT__ARGS7(id, kind##_TYPE(provider, name), a1, a2, a3, a4, a5, a6, a7), text, kind, sema, provider, name)
#define USDT__SITE8(id, text, kind, sema, provider, name, a1, a2, a3, a4, a5, a6, a7, a8)          \
	USDT__EMIT(id, 8, USDT__ARGS8(id, kind##_TYPE(provider, name), a1, a2, a3, a4, a5, a6, a7, a8), text, kind, sema, provider, name)
#define USDT__SITE9(id, text, kind, sema, provider, name, a1, a2, a3, a4, a5, a6, a7, a8, a9)      \
	USDT__EMIT(id, 9, USDT__ARGS9(id, kind##_TYPE(provider, name), a1, a2, a3, a4, a5, a6, a7, a8, a9), text, kind, sema, provider, name)
#define USDT__SITE10(id, text, kind, sema, provider, name, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10) \
	USDT__EMIT(id, 10, USDT__ARGS10(id, kind##_TYPE(provider, name), a1, a2, a3, a4, a5, a6, a7, a8, a9, a10), text, kind, sema, provider, name)
#define USDT__SITE11(id, text, kind, sema, provider, name, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11) \
	USDT__EMIT(id, 11, USDT__ARGS11(id, kind##_TYPE(provider, name), a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11), text, kind, sema, provider, name)
#define USDT__SITE12(id, text, kind, sema, provider, name, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12) \
	USDT__EMIT(id, 12, USDT__ARGS12(id, kind##_TYPE(provider, name), a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12), text, kind, sema, provider, name)
#define USDT__SITE13(...) USDT__STATIC_ASSERT(0, "a USDT probe has at most 12 arguments")
#ifdef USDT_DISABLE
#define USDT__EMIT(id, n, decls, text, kind, sema, provider, name)                                  \
	do {                                                                                       \
		if (0) {                                                                           \
			kind##_CHECK(sema, provider, name) decls USDT__USE##n                      \
		}                                                                                  \
	} while (0)
#else
#define USDT__EMIT(id, n, decls, text, kind, sema, provider, name)                                  \
	do {                                                                                       \
		kind##_CHECK(sema, provider, name) decls USDT__READS##n                            \
		    USDT__PUT_TEXT(text, USDT__TEXT(id, text, provider, name));   \
		USDT__ASM(USDT__BEFORE "990:\t" USDT_SITE "\n" USDT__AFTER                         \
				  USDT__NOTE(kind(sema, provider, name), provider, name, USDT__PLACES##n) \
				      USDT__SITE_NOTE(id) \
			  :                                                                        \
			  : USDT__KINDS(USDT__KINDS##n) USDT__OPERANDS##n);                        \
	} while (0)
#endif

/* ---- the macros of the first page ----------------------------------------------------------------------------- */

/* The text of the arguments is taken here, before they are expanded, twice quoted: once for C, once for the assembler. */
#define USDT_PROBE(provider, ...)                                                                  \
	USDT__SITE(USDT__STR(#__VA_ARGS__), USDT__SEMA_IMPLICIT, , provider, __VA_ARGS__)

/* What an argument is called, for listings: the strings stay in the text that the note keeps, no code sees them. */
#define USDT_ARG(expr, ...) USDT__CAT(USDT__ARG, USDT__COUNT(__VA_ARGS__))(expr, __VA_ARGS__)
#define USDT__ARG0(expr, name) ((void)sizeof("USDT_ARG"), (void)sizeof(name), (expr))
#define USDT__ARG1(expr, name, doc)                                                                \
	((void)sizeof("USDT_ARG"), (void)sizeof(name), (void)sizeof(doc), (expr))
#define USDT__ARG2(expr, name, doc, unit)                                                          \
	((void)sizeof("USDT_ARG"), (void)sizeof(name), (void)sizeof(doc), (void)sizeof(unit), (expr))
#define USDT__ARG3(...) usdt_arg_takes_an_expression_a_name_a_doc_and_a_unit
#define USDT__ARG4 USDT__ARG3
#define USDT__ARG5 USDT__ARG3

/* The types tell a tracer what the bits are. */
typedef __UINT32_TYPE__ usdt_float_bits;
typedef __UINT64_TYPE__ usdt_double_bits;
#define USDT__INLINE static __inline__ __attribute__((__always_inline__, __artificial__, __unused__))
USDT__INLINE usdt_float_bits usdt_bits_of_float(float x)
{
	usdt_float_bits bits;
	__builtin_memcpy(&bits, &x, sizeof(bits));
	return bits;
}
USDT__INLINE usdt_double_bits usdt_bits_of_double(double x)
{
	usdt_double_bits bits;
	__builtin_memcpy(&bits, &x, sizeof(bits));
	return bits;
}
#ifdef __cplusplus
extern "C++" {
USDT__INLINE usdt_float_bits usdt_bits(float x)
{
	return usdt_bits_of_float(x);
}
USDT__INLINE usdt_double_bits usdt_bits(double x)
{
	return usdt_bits_of_double(x);
}
template <class T> int usdt_bits(T)
{
	static_assert(sizeof(T) == 0, "USDT_BITS takes a float or a double");
	return 0;
}
}
#define USDT_BITS(x) (::usdt_bits(x))
#else
usdt_double_bits usdt_bits_takes_a_float_or_a_double(void); /* no such function: a call of it has this name in its error */
#define USDT_BITS(x)                                                                               \
	(_Generic((x),                                                                             \
	     float: usdt_bits_of_float,                                                            \
	     double: usdt_bits_of_double,                                                          \
	     default: usdt_bits_takes_a_float_or_a_double)(x))
#endif

/* An argument is evaluated only behind the test. */
#define USDT_PROBE_LAZY(provider, ...)                                                             \
	do {                                                                                       \
		if (USDT__LAZY_ENABLED(provider, __VA_ARGS__, ))                                   \
			USDT__SITE(USDT__STR(#__VA_ARGS__), USDT__SEMA_IMPLICIT, , provider,       \
				   __VA_ARGS__);                                                   \
	} while (0)
#define USDT__LAZY_ENABLED(provider, name, ...) USDT_ENABLED(provider, name)

#ifdef USDT_DISABLE
#define USDT_DOC(provider, name, sentence)                                                         \
	USDT__CHECK_NAMES(provider, name)                                                          \
	USDT__CHECK_DOC(USDT__STR(sentence)) struct usdt_doc
#define USDT_ENABLED(provider, name) 0
#define USDT_SEMA_DECLARE(sema)                                                                    \
	USDT__CHECK_NAME(#sema)                                                                    \
	extern unsigned short __usdt_sema_##sema
#define USDT_SEMA_DEFINE(sema) USDT_SEMA_DECLARE(sema)
#define USDT_SEMA_ENABLED(sema) (0 && __usdt_sema_##sema)
#else
#define USDT_DOC(provider, name, sentence) USDT__DOC(provider, name, sentence)
#define USDT__DOC(provider, name, sentence)                                                        \
	USDT__CHECK_NAMES(provider, name)                                                          \
	USDT__CHECK_DOC(USDT__STR(sentence))                                                                 \
	__asm__("\t.pushsection .note.btgen,\"\",\"note\"\n"                                       \
		"\t.balign 4\n"                                                                    \
		"\t.4byte 6, 994f-993f, 3\n"                                                       \
		"\t.asciz \"btgen\"\n"                                                             \
		"\t.balign 4\n"                                                                    \
		"993:\t.asciz " USDT__XSTR(USDT__STR(provider)) "\n"                               \
		"\t.asciz " USDT__XSTR(USDT__STR(name)) "\n"                                       \
		"\t.asciz " USDT__XSTR(USDT__STR(sentence)) "\n"                                   \
		"994:\t.balign 4\n"                                                                \
		"\t.popsection\n")

/* The counter: 2 bytes in .probes, one a probe and executable or library. The asm is there to define it, it does nothing. */
#define USDT_ENABLED(provider, name) USDT__ENABLED(provider, name)
#if defined(__cplusplus) && !defined(__clang__) && (defined(__x86_64__) || defined(__aarch64__))
/* In a template g++ forgets the name that __asm__ gives a variable. */
#ifdef __x86_64__
#define USDT__LOAD(counter)                                                                        \
	"{movzwl\t" counter "(%%rip), %k0|movzx\t%k0, WORD PTR " counter "[rip]}" /* or -masm=intel */
#else
#define USDT__LOAD(counter) "adrp\t%0, " counter "\n\tldrh\t%w0, [%0, :lo12:" counter "]"
#endif
#define USDT__COUNTER(provider, name) unsigned long __usdt_raised;
#define USDT__COUNTER_RAISED(provider, name)                                                       \
	__asm__ __volatile__(USDT__LOAD(USDT__SEMA_QUOTED(provider, name)) : "=r"(__usdt_raised)); \
	__builtin_expect(__usdt_raised != 0, 0) != 0
#else
#define USDT__COUNTER(provider, name)                                                              \
	USDT__QUIET                                                                                \
	extern unsigned short __usdt_##provider##__sema_##name __asm__(                            \
	    USDT__SEMA_NAME(provider, name)) __attribute__((__visibility__("hidden")));            \
	USDT__LOUD
#define USDT__COUNTER_RAISED(provider, name) USDT__RAISED(__usdt_##provider##__sema_##name)
#endif
#if defined(__cplusplus) || defined(__clang__)
#define USDT__QUIET
#define USDT__LOUD
#else
/* Each use declares it again, in its own block. */
#define USDT__QUIET                                                                                \
	_Pragma("GCC diagnostic push") _Pragma("GCC diagnostic ignored \"-Wredundant-decls\"")     \
	    _Pragma("GCC diagnostic ignored \"-Wnested-externs\"")
#define USDT__LOUD _Pragma("GCC diagnostic pop")
#endif
#define USDT__ENABLED(provider, name)                                                              \
	(__extension__({                                                                           \
		USDT__CHECK_NAMES(provider, name)                                                  \
		USDT__COUNTER(provider, name)                                                      \
		USDT__ASM("\t.ifndef " USDT__SEMA_QUOTED(provider, name) "\n"                      \
			  "\t.pushsection .probes,\"awG\",\"progbits\"," USDT__SEMA_QUOTED(        \
			      provider, name) ",comdat\n"                                          \
			  "\t.balign 2\n"                                                          \
			  "\t.weak " USDT__SEMA_QUOTED(provider, name) "\n"                        \
			  "\t.hidden " USDT__SEMA_QUOTED(provider, name) "\n"                      \
			  "\t.type " USDT__SEMA_QUOTED(provider, name) ", \"object\"\n"            \
			  USDT__SEMA_QUOTED(provider, name) ": .2byte 0\n"                         \
			  "\t.size " USDT__SEMA_QUOTED(provider, name) ", 2\n"                     \
			  "\t.popsection\n"                                                        \
			  "\t.endif\n"                                                             \
			  :);                                                                      \
		USDT__COUNTER_RAISED(provider, name);                                              \
	}))
#ifdef __cplusplus
#define USDT__RAISED(sema)                                                                         \
	(__builtin_expect(const_cast<const volatile unsigned short &>(sema) != 0, 0) != 0)
#else
#define USDT__RAISED(sema)                                                                         \
	(__builtin_expect(*(const volatile unsigned short *)&(sema) != 0, 0) != 0)
#endif

#ifdef __cplusplus
#define USDT__EXTERN extern "C"
#else
#define USDT__EXTERN extern
#endif
#define USDT_SEMA_DECLARE(sema)                                                                    \
	USDT__CHECK_NAME(#sema)                                                                    \
	USDT__EXTERN unsigned short __usdt_sema_##sema __asm__("__usdt_sema_" #sema)               \
	    __attribute__((__visibility__("hidden")))
#define USDT_SEMA_DEFINE(sema)                                                                     \
	USDT_SEMA_DECLARE(sema);                                                                   \
	unsigned short __usdt_sema_##sema __attribute__((__used__, __section__(".probes"))) = 0
#define USDT_SEMA_ENABLED(sema) USDT__RAISED(__usdt_sema_##sema)
#endif

#define USDT_PROBE_SEMA(sema, provider, ...)                                                       \
	USDT__SITE(USDT__STR(#__VA_ARGS__), USDT__SEMA_EXPLICIT, sema, provider, __VA_ARGS__)

#endif /* BTGEN_USDT_H */
