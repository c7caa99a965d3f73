// A C++ program under test for right scripts: namespaces, enum class, members, base classes, a probe's place in a method.
#include <btgen/usdt.h>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>

namespace draw
{
enum class colour : uint8_t { red = 1, green, blue = 10 };
enum class fit : int { never = -1, barely, well };

struct point {
	int32_t x, y;
};

class shape
{
public:
	char label[20];
	colour paint;
	point corner;
	int16_t layer;
	const shape *below;

	virtual ~shape() = default;
	virtual long area() const = 0;
	__attribute__((noinline)) void moved(int dx, int dy, fit how)
	{
		corner.x += dx;
		corner.y += dy;
		USDT_PROBE(shapes, moved, this, dx, dy, how);
	}
};

class box : public shape
{
public:
	uint32_t width = 2, height = 3;
	long area() const override { return static_cast<long>(width) * height; }
};

__attribute__((noinline)) void show(const box &b, const char *where)
{
	USDT_PROBE(shapes, shown, &b, b.paint, where, b.area());
}
} // namespace draw

extern "C" __attribute__((noinline)) int draw_flush(draw::shape *last, int count)
{
	USDT_PROBE(shapes, flushed, count);
	return last ? -count : count;
}

int main()
{
	char line[64];
	draw::box b;
	strcpy(b.label, "first");
	b.paint = draw::colour::green;
	b.corner = {1, 2};
	b.layer = -3;
	b.below = nullptr;
	puts("ready"), fflush(stdout);
	for (int i = 1; fgets(line, sizeof(line), stdin); i++) {
		b.moved(i, -i, draw::fit::barely);
		draw::show(b, line);
		draw_flush(&b, i);
	}
}
