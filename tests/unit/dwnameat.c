// dwnameat: what the bytes before a name say, with a table of abbreviations made by hand (DWARF 5 section 7.5.3).
#include <dwarf.h>

#include "tap.h"
#include "dwarf/dwnameat.h"
#include "dwarf/dwquery.h"
#include "dwarf/dwunits.h"

static struct dwnameat c;
static const struct dwunit_span unit = {.version = 4, .addr_size = 8, .off_size = 4};

/** Enters a unit that has this table. */
static void enter(const char *table, size_t n, bool big, const struct dwunit_span *u)
{
	dwnameat_fini(&c);
	dwnameat_init(&c, big);
	dwnameat_enter(&c, (struct str){table, n}, u);
}
#define ENTER(...)                                                                                 \
	enter((const char[]){__VA_ARGS__}, sizeof((const char[]){__VA_ARGS__}), false, &unit)

static unsigned kinds(const char *bytes, size_t at, bool is_inline)
{
	return dwnameat_kinds(&c, (struct str){bytes, 16}, at, is_inline);
}

/** The kind and that it may be a definition. */
static unsigned both(unsigned kind)
{
	return kind | kind << DWNAMEAT_DEFINES;
}

int main(void)
{
	dwnameat_init(&c, false);
	// 1: a struct, the name first; 2: an enum's declaration, inline; 3: a member; 0x90: a union, 2 bytes before the name.
	ENTER(1, DW_TAG_structure_type, 1, DW_AT_name, DW_FORM_strp, DW_AT_byte_size, DW_FORM_data1,
	      0, 0, 2, DW_TAG_enumeration_type, 0, DW_AT_name, DW_FORM_string, DW_AT_declaration,
	      DW_FORM_flag_present, 0, 0, 3, DW_TAG_member, 0, DW_AT_name, DW_FORM_strp, 0, 0,
	      (char)0x90, 1, DW_TAG_union_type, 0, DW_AT_byte_size, DW_FORM_data2, DW_AT_name,
	      DW_FORM_strp, 0, 0, 0);
	is_num(kinds("\x07\x01nnnn", 2, false), both(NAME_STRUCT), "a struct");
	is_num(kinds("\x07\x02nnnn", 2, true), NAME_ENUM, "an enum that is only declared");
	is_num(kinds("\x07\x02nnnn", 2, false), 0, "an enum's name is inline, this one is not");
	is_num(kinds("\x07\x03nnnn", 2, false), 0, "a member");
	is_num(kinds("\x90\x01ssnnnn", 4, false), both(NAME_UNION), "two bytes of number");
	is_num(kinds("\x91\x01ssnnnn", 4, false), 0, "another number");
	is_num(kinds("nnnn", 0, false), 0, "a unit does not begin with a name");
	is_num(kinds("\x81\x80\x00nnnn", 3, false) & both(NAME_STRUCT), both(NAME_STRUCT),
	       "a number that is longer than it must be");

	ENTER(1, DW_TAG_structure_type, 1, DW_AT_byte_size, DW_FORM_udata, DW_AT_name, DW_FORM_strp,
	      0, 0, 0);
	is_num(kinds("\x07\x05\x09nnnn", 3, false), DWNAMEAT_ANY,
	       "behind a value of any length a name may be anywhere");
	ENTER(1, DW_TAG_structure_type, 1, DW_AT_specification, DW_FORM_ref4, 0, 0, 0);
	is_num(kinds("\x07\x05nnnn", 2, false), DWNAMEAT_ANY, "so may one of another DIE");
	ENTER(1, DW_TAG_structure_type, 1, DW_AT_name, DW_FORM_indirect, 0, 0, 0);
	is_num(kinds("\x07\x05nnnn", 2, false), DWNAMEAT_ANY, "a table that is not understood");
	ENTER(1, DW_TAG_structure_type, 1, DW_AT_name);
	is_num(kinds("\x07\x05nnnn", 2, false), DWNAMEAT_ANY, "a table that is cut off");

	// Of eight bytes the lower half was looked for.
	static const char table[] = {1, DW_TAG_typedef, 0, DW_AT_name, DW_FORM_strp, 0, 0, 0};
	struct dwunit_span wide = unit;
	wide.off_size = 8;
	enter(table, sizeof(table), true, &wide);
	is_num(kinds("\x01\0\0\0\0nnnn", 5, false), both(NAME_TYPEDEF), "64 bit, big endian");
	enter(table, sizeof(table), false, &wide);
	is_num(kinds("\x01nnnn\0\0\0\0", 1, false), both(NAME_TYPEDEF), "and little endian");
	dwnameat_fini(&c);
	return done();
}
