/**
 * otlp - spans in OpenTelemetry's OTLP JSON, a whole request on each line, as the collector's otlpjsonfile
 * receiver reads them. What the keys mean: opentelemetry-proto's trace.proto; of JSON, that ids are in
 * hexadecimal digits and integers of 64 bits in strings.
 */
#ifndef CONVERT_OTLP_H
#define CONVERT_OTLP_H

#include "convert/drawing.h"

extern const struct drawing otlp_drawing;

#endif
