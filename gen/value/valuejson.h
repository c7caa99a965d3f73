/**
 * valuejson - single values in JSON, by docs/records.schema.json.
 *
 * A number beyond 2^53 - 1 either way is a string of its digits, as many readers have doubles for
 * numbers. A string that is not UTF-8 is {"text": with U+FFFD for what is not, "hex": all of its
 * bytes}; an enumerator {"name": or null, "value":}; an address "0x...", null for 0; a function its
 * name or its address; what is no finite number "inf", "-inf", "nan" or "-nan".
 */
#ifndef VALUE_VALUEJSON_H
#define VALUE_VALUEJSON_H

#include "base/json.h"
#include "value/render_value.h"

void valuejson_string(struct json *j, const char *key, struct str s);
void valuejson_number(struct json *j, const char *key, int64_t value, bool is_signed);
void valuejson_enum(struct json *j, const char *key, const struct enumtab *names, int64_t value);
/** The lines of a stack, as an array. */
void valuejson_stack(struct json *j, const char *key, struct str s);
void valuejson_address(struct json *j, const char *key, uint64_t address);

#endif
