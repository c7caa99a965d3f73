// Classes and their bases, enums with scopes.
#include <btgen/usdt.h>

namespace app
{
enum class color { red, green, blue, black };
enum class shape { square = 4, circle = 5 };
struct base { int kind; };
struct other { long size; };
struct extra { double weight; };
struct derived : base, other { int depth; };
class unrelated
{
      public:
	explicit unrelated(double v) : value(v) {}
	double value;
};
} // namespace app

int main(int argc, char **argv)
{
	app::derived derived;
	derived.kind = argc;
	derived.size = 7;
	derived.depth = 3;
	app::base *base = &derived;
	app::other *other = &derived;
	app::unrelated unrelated(0.5), *u = &unrelated;
	app::extra extra = {0.25}, *e = &extra;
	app::color color = app::color::blue;
	app::shape shape = app::shape::circle;
	bool busy = argv[0] != nullptr;
	USDT_PROBE(app, classes, base, other, u, e);
	USDT_PROBE(app, scoped, color, shape, busy);
	return 0;
}

#include <string>

namespace app
{
int grow(int by)
{
	std::string name(static_cast<size_t>(by), 'x'), *text = &name;
	USDT_PROBE(app, grown, text);
	return by + 1;
}
} // namespace app
