/**
 * fieldjson - the fields of a record in JSON, by docs/records.schema.json.
 *
 * Of fields of one name the later ones are name_2, name_3; what could not be read is left out.
 *
 *	"fields": {"state": {"name": "RUNNING", "value": 4}, "nqn": "nqn.2016-06"}, "cut": ["nqn"]
 */
#ifndef RECORD_FIELDJSON_H
#define RECORD_FIELDJSON_H

#include "base/json.h"
#include "record/render.h"

/**
 * Adds "fields": {...}, and "cut": [...] with the names of strings that may be longer than what
 * bpftrace could hold, to an object that is open.
 */
void fieldjson_record(const struct render *how, const struct record *r, struct json *j);

#endif
