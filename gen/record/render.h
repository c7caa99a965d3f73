/**
 * render - a record as text, its format filled in or the list of -t, and as JSON, by
 * docs/records.schema.json.
 */
#pragma once

#include "base/json.h"
#include "record/decode.h"
#include "value/render_value.h"

/** @how, for what is known of the process of @r. */
struct render render_of(const struct render *how, const struct record *r);
/**
 * Adds the text of a record; no newline is added, and a list begins with a blank. In a format what a
 * traced program's strings hold is passed on as it is, and a null string is empty, as bpftrace has it;
 * in a list both are shown.
 */
void render_record(const struct render *how, const struct record *r, struct strbuf *out);
/** The key of a member of an object that is open; the value must follow. */
void render_key(const struct shape_field *f, struct json *j);
/**
 * Adds "fields": {...}, and "cut": [...] with the names of strings that may be longer than what
 * bpftrace could hold, to an object that is open. Fields that could not be read are left out.
 */
void render_record_json(const struct render *how, const struct record *r, struct json *j);
