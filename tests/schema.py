"""Validates lines of -f json against docs/records.schema.json: schema.py FILE...

Prints what is wrong with the first lines that do not hold, and a last line with how many lines there are of each kind."""
import collections, json, os, re, sys
from jsonschema import Draft202012Validator

PATH = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "docs", "records.schema.json")


def no_constant(name):
    raise ValueError(f"{name} is not JSON")


def no_duplicates(pairs):
    names = [name for name, _ in pairs]
    if len(set(names)) < len(names):
        raise ValueError(f"a name comes twice: {names}")
    return dict(pairs)


def read(line):
    """The object on a line of bytes, by RFC 8259: UTF-8, no NaN; and no name twice."""
    return json.loads(line.decode("utf-8"), parse_constant=no_constant, object_pairs_hook=no_duplicates)


def validator():
    with open(PATH, encoding="utf-8") as f:
        schema = json.load(f)
    Draft202012Validator.check_schema(schema)
    return Draft202012Validator(schema)


def kind(o):
    return "map" if "map" in o else "loss" if "lost" in o else "cost" if "cost" in o else "record" if "time" in o else "program" if "program" in o else "capture" if "capture" in o else "line"


def main():
    check, counts, wrong, held = validator(), collections.Counter(), 0, set()
    for path in sys.argv[1:]:
        with open(path, "rb") as f:
            for n, line in enumerate(f, 1):
                try:
                    o = read(line)
                    counts[kind(o)] += 1
                    # What differs in digits alone holds as well: no limit in the schema has 2 to 15 of them.
                    alike = re.sub(rb"(?<![0-9])[0-9]{2,15}(?![0-9])", lambda m: b"1" * len(m[0]), line)
                    error = None if alike in held or check.is_valid(o) else next(check.iter_errors(o)).message
                    if not error:
                        held.add(alike)
                except ValueError as e:
                    error = str(e)
                if error:
                    wrong += 1
                    if wrong <= 10:
                        print(f"{path}:{n}: {error[:500]}: {line[:500]!r}")
    print(" ".join(f"{counts[k]} {k}" for k in ("record", "map", "loss", "line")))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
