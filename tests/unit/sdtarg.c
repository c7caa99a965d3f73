/** Reads operands: each form that compilers write, as "KIND size sign base index*scale disp symbol". */
#include <elf.h>

#include "usdt/sdtarg.h"
#include "tap.h"

static struct arena arena;

/** One operand in a short fixed form. */
static char *show(const struct sdtarg *a)
{
	static const char *const kinds[] = {"UNKNOWN", "CONST", "REG", "MEM", "ADDR", "SEGMENT"};
	struct strbuf b = {0};
	strbuf_addf(&b, "%s%s%u%s", kinds[a->kind], a->is_signed ? " s" : " u", a->size,
		    a->is_float ? "f" : "");
	if (a->kind == SDTARG_CONST)
		strbuf_addf(&b, " %lld", (long long)a->value);
	if (a->segment.n)
		strbuf_addf(&b, " " STR_FMT ":", STR_ARG(a->segment));
	if (a->base.n)
		strbuf_addf(&b, " " STR_FMT, STR_ARG(a->base));
	if (a->index.n)
		strbuf_addf(&b, " %s" STR_FMT "*%u", a->index_signed ? "signed " : "",
			    STR_ARG(a->index), a->scale);
	if (a->disp)
		strbuf_addf(&b, " %+lld", (long long)a->disp);
	if (a->symbol.n)
		strbuf_addf(&b, " \"" STR_FMT "\"", STR_ARG(a->symbol));
	char *text = arena_strdup(&arena, b.p);
	strbuf_fini(&b);
	return text;
}

static void is_read(unsigned machine, const char *text, const char *want)
{
	struct sdtarg *args;
	size_t n;
	sdtarg_parse(&arena, machine, str_from(text), &args, &n);
	struct strbuf b = {0};
	for (size_t i = 0; i < n; i++)
		strbuf_addf(&b, "%s%s", i ? ", " : "", show(&args[i]));
	is_str(strbuf_str(&b), str_from(want), text);
	if (n == 1 && !str_eqz(args[0].text, text))
		ok(false, "%s: the whole text is kept", text);
	strbuf_fini(&b);
}

/** @want has a letter for each operand: which of bcc and libbpf reads it, `2` both, `-` none. */
static void is_read_by(unsigned machine, const char *text, const char *want)
{
	struct sdtarg *args;
	size_t n;
	char got[16] = "";
	sdtarg_parse(&arena, machine, str_from(text), &args, &n);
	for (size_t i = 0; i < n && i < sizeof(got) - 1; i++)
		got[i] = args[i].bcc_misreads ? (args[i].is_beyond_libbpf ? '-' : 'l')
					      : (args[i].is_beyond_libbpf ? 'b' : '2');
	is_str(str_from(got), str_from(want), text);
}

static const struct {
	const char *text, *want;
} x86_64[] = {
    // constants: the argument's value, whatever the compiler wrote for it
    {"4@$0", "CONST u4 0"},
    {"-4@$-5", "CONST s4 -5"},
    {"4@$-1", "CONST u4 4294967295"},
    {"1@$-1", "CONST u1 255"},
    {"-1@$255", "CONST s1 -1"},
    {"-2@$0x7fff", "CONST s2 32767"},
    {"8@$-1", "CONST u8 -1"},
    {"8@$18446744073709551615", "CONST u8 -1"},
    {"-8@$-9223372036854775808", "CONST s8 -9223372036854775808"},
    {"8@$010", "CONST u8 8"},
    {"8@$4+3", "CONST u8 7"},
    {"$5", "CONST u0 5"},
    {"8@$18446744073709551616", "UNKNOWN u8"},
    {"8@$-9223372036854775809", "UNKNOWN u8"},
    {"8@$9223372036854775807+1", "UNKNOWN u8"},
    {"8@$1x", "UNKNOWN u8"},
    {"8@$", "UNKNOWN u8"},
    {"8@$--1", "UNKNOWN u8"},
    {"8@$1+", "UNKNOWN u8"},
    // addresses of symbols
    {"-8@$sym+4", "ADDR s8 +4 \"sym\""},
    {"8@$sym", "ADDR u8 \"sym\""},
    {"8@$4+sym-8", "ADDR u8 -4 \"sym\""},
    {"8@$a-b", "UNKNOWN u8"},
    {"8@$a+b", "UNKNOWN u8"},
    // registers
    {"-4@%ebx", "REG s4 ebx"},
    {"8@%rax", "REG u8 rax"},
    {"1@%dil", "REG u1 dil"},
    {"1@%ah", "REG u1 ah"},
    {"-2@%r10w", "REG s2 r10w"},
    {"4@%r9d", "REG u4 r9d"},
    {"1@%r15b", "REG u1 r15b"},
    {"8@%r31", "REG u8 r31"},
    {"%rax", "REG u0 rax"},
    {"8@%r7", "UNKNOWN u8"},
    {"8@%r32", "UNKNOWN u8"},
    {"8@%r08", "UNKNOWN u8"},
    {"8@%cr0", "UNKNOWN u8"},
    {"8@%fs", "UNKNOWN u8"},
    {"8@%", "UNKNOWN u8"},
    {"8@%raxx", "UNKNOWN u8"},
    {"8@rax", "UNKNOWN u8"},
    {"8@*%rax", "UNKNOWN u8"},
    // floating point
    {"8@%xmm0", "REG u8f xmm0"},
    {"8f@%xmm15", "REG u8f xmm15"},
    {"8f@%rax", "REG u8f rax"},
    {"-4f@8(%rsp)", "MEM s4f rsp +8"},
    {"4f@8(%rsp)", "MEM u4f rsp +8"},
    {"16@%ymm1", "REG u16f ymm1"},
    {"16f@%st(1)", "REG u16f st(1)"},
    {"16f@%st", "REG u16f st"},
    {"8@%xmm32", "UNKNOWN u8"},
    // memory
    {"8@16(%rsp)", "MEM u8 rsp +16"},
    {"-4@-20(%rbp)", "MEM s4 rbp -20"},
    {"8@(%rax)", "MEM u8 rax"},
    {"8@0x10(%rax)", "MEM u8 rax +16"},
    {"8@-8(%rax,%rbx,4)", "MEM u8 rax rbx*4 -8"},
    {"8@(%rax,%rbx)", "MEM u8 rax rbx*1"},
    {"8@(,%rbx,8)", "MEM u8 rbx*8"},
    {"4@table(,%rdi,4)", "MEM u4 rdi*4 \"table\""},
    {"4@table+16(%rax,%rdi,4)", "MEM u4 rax rdi*4 +16 \"table\""},
    {"4@(%eax)", "MEM u4 eax"},
    {"4@nr_conns(%rip)", "MEM u4 \"nr_conns\""},
    {"-4@32+gs(%rip)", "MEM s4 +32 \"gs\""},
    {"-4@gs+32(%rip)", "MEM s4 +32 \"gs\""},
    {"4@.LC0(%rip)", "MEM u4 \".LC0\""},
    {"4@_ZL3foo.lto_priv.0-4(%rip)", "MEM u4 -4 \"_ZL3foo.lto_priv.0\""},
    {"8@x@GOTPCREL(%rip)", "MEM u8 \"x@GOTPCREL\""},
    {"8@16(%rip)", "MEM u8 rip +16"},
    {"4@counter", "MEM u4 \"counter\""},
    {"8@(%rax,%rbx,3)", "UNKNOWN u8"},
    {"8@(%rax,%rbx,)", "UNKNOWN u8"},
    {"8@(%rax,%rip,1)", "UNKNOWN u8"},
    {"8@(%rax", "UNKNOWN u8"},
    {"8@(%rax)x", "UNKNOWN u8"},
    {"8@()", "UNKNOWN u8"},
    {"8@(rax)", "UNKNOWN u8"},
    {"8@9223372036854775808(%rax)", "MEM u8 rax -9223372036854775808"},
    // a number alone: an address for AT&T, a constant for Intel
    {"4@5", "UNKNOWN u4"},
    // thread-local
    {"-4@%fs:0xfffffffffffffffc", "SEGMENT s4 fs: -4"},
    {"4@%fs:x@tpoff", "SEGMENT u4 fs: \"x@tpoff\""},
    {"4@%fs:x@tpoff+8", "SEGMENT u4 fs: +8 \"x@tpoff\""},
    {"4@%gs:16(%rax)", "SEGMENT u4 gs: rax +16"},
    {"4@%fs:(%rax)", "SEGMENT u4 fs: rax"},
    {"4@%ds:(%rax)", "UNKNOWN u4"},
    {"4@%fs:", "UNKNOWN u4"},
    // sizes
    {"16@(%rax)", "MEM u16 rax"},
    {"0@%rax", "UNKNOWN u0"},
    {"@%rax", "UNKNOWN u0"},
    {"-@%rax", "UNKNOWN u0"},
    {"4294967296@%rax", "UNKNOWN u0"},
    {"8@", "UNKNOWN u8"},
    // several
    {"", ""},
    {"   ", ""},
    {"-4@%ebx 8@16(%rsp)", "REG s4 ebx, MEM u8 rsp +16"},
    {" 8@%rax\t8@%rbx ", "REG u8 rax, REG u8 rbx"},
    {"%rax %rbx", "REG u0 rax, REG u0 rbx"},
    {"8@-8(%rax, %rbx, 4) 4@$1", "UNKNOWN u8, CONST u4 1"},
    {"8@QWORD PTR [rbp-8] 4@$1", "UNKNOWN u8, CONST u4 1"},
    {"8@( 4@$1 4@$2", "UNKNOWN u8"},
};

static const struct {
	const char *text, *want;
} arm64[] = {
    {"8@x0", "REG u8 x0"},
    {"8f@x0", "REG u8f x0"},
    {"-4@w19", "REG s4 w19"},
    {"8@sp", "REG u8 sp"},
    {"8@x30", "REG u8 x30"},
    {"8@x31", "ADDR u8 \"x31\""},
    {"8@xzr", "CONST u8 0"},
    {"4@5", "CONST u4 5"},
    {"-4@-1", "CONST s4 -1"},
    {"4@-1", "CONST u4 4294967295"},
    {"4@#7", "CONST u4 7"},
    {"8@v0", "REG u8f v0"},
    {"-8@d9", "REG s8f d9"},
    {"8@v0.d[0]", "UNKNOWN u8"},
    {"8@[x0]", "MEM u8 x0"},
    {"-4@[sp, 16]", "MEM s4 sp +16"},
    {"-4@[sp,#16]", "MEM s4 sp +16"},
    {"-4@[x29, -20]", "MEM s4 x29 -20"},
    {"8@[x0, x1]", "MEM u8 x0 x1*1"},
    {"8@[x0, x1, lsl 3]", "MEM u8 x0 x1*8"},
    {"8@[x0, x1, lsl #3]", "MEM u8 x0 x1*8"},
    {"8@[x0, w1, sxtw 2]", "MEM u8 x0 signed w1*4"},
    {"8@[x0, w1, sxtw]", "MEM u8 x0 signed w1*1"},
    {"8@[x0, w1, uxtw 3]", "MEM u8 x0 w1*8"},
    {"8@[x21, #:lo12:.LANCHOR2]", "MEM u8 \".LANCHOR2\""},
    {"8@[x21, :lo12:sym+8]", "MEM u8 +8 \"sym\""},
    {"8@[x0, w1]", "UNKNOWN u8"},
    {"8@[x0, x1, lsl]", "UNKNOWN u8"},
    {"8@[x0, x1, lsl 5]", "UNKNOWN u8"},
    {"8@[x0, x1, sxtw 3]", "UNKNOWN u8"},
    {"8@[x0, 16]!", "UNKNOWN u8"},
    {"8@[x0], 16", "UNKNOWN u8"},
    {"8@[x0", "UNKNOWN u8"},
    {"8@[w0]", "UNKNOWN u8"},
    {"8@[x0, ]", "UNKNOWN u8"},
    {"8@[x0, #:lo12:]", "UNKNOWN u8"},
    {"8@[x0, #:lo12:4]", "UNKNOWN u8"},
    {"8@[x0, sym]", "UNKNOWN u8"},
    {"8@sym+8", "ADDR u8 +8 \"sym\""},
    {"8@#sym", "UNKNOWN u8"},
    {"8@%rax", "UNKNOWN u8"},
    {"-4@[sp, 16] 8@[x21, #:lo12:.LANCHOR2] 8@x0",
     "MEM s4 sp +16, MEM u8 \".LANCHOR2\", REG u8 x0"},
};

static void is_described(const char *text, const char *want)
{
	struct sdtarg *args;
	size_t n;
	struct strbuf b = {0};
	sdtarg_parse(&arena, EM_X86_64, str_from(text), &args, &n);
	if (n == 1)
		sdtarg_describe(&b, &args[0]);
	is_str(strbuf_str(&b), str_from(want), want);
	strbuf_fini(&b);
}

int main(void)
{
	for (size_t i = 0; i < sizeof(x86_64) / sizeof(x86_64[0]); i++)
		is_read(EM_X86_64, x86_64[i].text, x86_64[i].want);
	for (size_t i = 0; i < sizeof(arm64) / sizeof(arm64[0]); i++)
		is_read(EM_AARCH64, arm64[i].text, arm64[i].want);
	is_read(EM_386, "-4@%eax 4@-12(%ebp) 4@x@GOTOFF(%ebx) 4@%gs:20",
		"REG s4 eax, MEM u4 ebp -12, MEM u4 ebx \"x@GOTOFF\", SEGMENT u4 gs: +20");
	is_read(EM_386, "8@%rax", "UNKNOWN u8");
	is_read(EM_PPC64, "-8@8(1) 4@%r3", "UNKNOWN s8, UNKNOWN u4");

	// bcc stops at some of what it does not read, and passes over the rest.
	is_read_by(EM_X86_64, "4@%eax -8@16(%rsp) 4@$-1 8@(%rax,%rbx,4)", "2222");
	is_read_by(EM_X86_64, "4@$1 8@%xmm0 4@x(%rip) 4@$2", "2--2");
	is_read_by(EM_X86_64, "4@$1 8f@%xmm0 4@$2 4@$3", "2-ll");
	is_read_by(EM_X86_64, "8@$sym 4@$2", "-l");
	is_read_by(EM_X86_64, "4@%fs:-4 4@$2", "-l");
	is_read_by(EM_X86_64, "8@%fs:n@tpoff 4@$2", "-l");
	is_read_by(EM_X86_64, "8@n.1(%rip) 4@$2", "-l");
	is_read_by(EM_X86_64, "8@G@GOTPCREL(%rip) 4@$2", "-l");
	is_read_by(EM_X86_64, "8@G+8(%rip) 8@8+G(%rip) 8@G(%rcx) 4@$2", "---2");
	is_read_by(EM_X86_64, "8@G 4@$2", "-l");
	is_read_by(EM_X86_64, "8@8(,%rcx,8) 4@$2", "-l");
	is_read_by(EM_X86_64, "176@8(%rsp) 3@(%rax) 16@%rax 7@$5 4@$2", "----2");
	is_read_by(EM_X86_64, "16@%xmm0 4@$2", "-2");
	is_read_by(EM_X86_64, "32@%ymm0 4@$2", "-l");
	is_read_by(EM_X86_64, "8@%st(1) 4@$2", "-l");
	is_read_by(EM_X86_64, "1@%ah 4@$2", "-l");
	is_read_by(EM_X86_64, "8@%r16 4@$2", "-l");
	is_read_by(EM_X86_64, "1@%sil 2@%r8w 1@%r15b 8@-8(%rip) 8@(%eax)", "22222");
	is_read_by(EM_X86_64, "8@$0x10 8@-0x10(%rsp) 4@$2", "bb2");
	is_read_by(EM_X86_64, "%rax", "b");
	is_read_by(EM_AARCH64, "-4@x0 8@x30 8@sp 8@[x29] -1@[sp, 16] 8@[x2,-8] 4@-1 8@[x0, x1]",
		   "222l222b");
	is_read_by(EM_AARCH64, "4@5 4@w10 4@5", "2-l");
	is_read_by(EM_AARCH64, "8@xzr 4@5", "-l");
	is_read_by(EM_AARCH64, "4@#5 4@5", "-l");
	is_read_by(EM_AARCH64, "8@[x29, #8] 4@5", "-l");
	is_read_by(EM_AARCH64, "8@[x0, x1, lsl 3] 4@5", "-l");
	is_read_by(EM_AARCH64, "8@[x0, w1, sxtw] 4@5", "-l");
	is_read_by(EM_AARCH64, "8@[x0, #:lo12:x] 4@5", "-l");
	is_read_by(EM_AARCH64, "8@d0 4@5", "-l");
	is_read_by(EM_AARCH64, "x0 16@x0", "--");

	// A string that nobody wrote by hand does not become a million operands.
	size_t many = 100000, n;
	char *text = arena_alloc(&arena, many * 2);
	memset(text, ' ', many * 2);
	for (size_t i = 0; i < many; i++)
		text[i * 2] = '1';
	struct sdtarg *args;
	sdtarg_parse(&arena, EM_X86_64, (struct str){text, many * 2}, &args, &n);
	ok(n == SDTARG_MAX + 1 && args[SDTARG_MAX].kind == SDTARG_UNKNOWN &&
	       args[SDTARG_MAX].text.n == (many - SDTARG_MAX) * 2 - 1,
	   "what is beyond 64 operands is one more, not understood");
	struct str texts[SDTARG_MAX + 1];
	is_num((long long)sdtarg_split((struct str){text, 128}, texts), 64, "64 operands are 64");
	is_num((long long)sdtarg_split(STR(" 8@[x0, x1, lsl 3]  8@x0 "), texts), 2,
	       "a blank in brackets does not end an operand");
	is_str(texts[0], STR("8@[x0, x1, lsl 3]"), "which is that text");
	is_str(texts[1], STR("8@x0"), "and the next one the rest, without blanks");
	is_num((long long)sdtarg_split(STR("x 8@QWORD PTR [rbp - 8] 4@eax y"), texts), 3,
	       "what has no size is of the operand before, if that has one");
	is_str(texts[2], STR("4@eax y"), "the last one, too");
	is_num((long long)sdtarg_split(STR(" \t"), texts), 0, "of blanks there are none");

	is_described("-4@%ebx", "signed, 4 bytes, in ebx");
	is_described("1@-8(%rax,%rbx,4)", "unsigned, 1 byte, at rax + rbx * 4 - 8");
	is_described("8@gs+32(%rip)", "unsigned, 8 bytes, at gs + 32");
	is_described("8f@%xmm0", "float, 8 bytes, in xmm0");
	is_described("4@$-1", "unsigned, 4 bytes, constant 4294967295");
	is_described("8@$-1", "unsigned, 8 bytes, constant 18446744073709551615");
	is_described("-8@$-1", "signed, 8 bytes, constant -1");
	is_described("8@$x+4", "unsigned, 8 bytes, the address x + 4");
	is_described("4@%fs:-4", "unsigned, 4 bytes, in thread-local memory (fs) at -4");
	is_described("8@(,%rbx,8)", "unsigned, 8 bytes, at rbx * 8");
	is_described("8@[what]", "unsigned, 8 bytes, in an unknown form");
	arena_fini(&arena);
	return done();
}
