// Names that a class, a namespace, a capture or a block has, and the file, too; references. As wrappers.c.
#include <sys/sdt.h>
#include <vector>
struct Queue { int depth; };
struct Conn { long pad; int fd; };
Queue *current; Queue head; long total; int level;
volatile int sink;
namespace ns { Conn *current; int level2; __attribute__((noinline)) void f(int n) { DTRACE_PROBE2(cc, nsf, current, n); DTRACE_PROBE1(cc, nsg, total); sink += n; } }
struct Base { Conn *current; short total; };
template <class T> struct TBase { T *current; T head; };
class Server {
public:
	Conn *current; Conn head; char level; static Conn *shared;
	__attribute__((noinline)) void method(int n) { DTRACE_PROBE3(cc, method, current, &head, n); DTRACE_PROBE1(cc, method2, level); DTRACE_PROBE1(cc, self, this); DTRACE_PROBE1(cc, via, this->current); sink += n; }
	__attribute__((noinline)) int cmethod(int n) const { DTRACE_PROBE2(cc, cmethod, current, n); return n + sink; }
	template <class T> __attribute__((noinline)) void tmethod(T n) { DTRACE_PROBE2(cc, tmethod, current, n); sink += (int)n; }
	static __attribute__((noinline)) void smethod(int n) { DTRACE_PROBE2(cc, smethod, shared, n); sink += n; }
	void lambda(int n) { auto l = [this](int k) __attribute__((noinline)) { DTRACE_PROBE2(cc, lambda, current, k); sink += k; }; l(n); auto m = [current = &n](int k) __attribute__((noinline)) { DTRACE_PROBE2(cc, capture, current, k); sink += *current; }; m(n); }
	void lambda2(int n) { auto l = [&](int k) __attribute__((noinline)) { DTRACE_PROBE3(cc, lambda2, current, this, k); sink += k + n; }; l(n); }
	void later(int n);
};
Conn *Server::shared;
__attribute__((noinline)) void Server::later(int n) { DTRACE_PROBE2(cc, later, current, n); sink += n; }
struct Derived : Base { __attribute__((noinline)) void method(int n) { DTRACE_PROBE3(cc, derived, current, total, n); sink += n; } };
template <class T> struct TDerived : TBase<T> { __attribute__((noinline)) void method(int n) { DTRACE_PROBE2(cc, tderived, current, n); DTRACE_PROBE1(cc, tderived2, this->current); sink += n; } };
__attribute__((noinline)) void plain(Queue *q, Conn &c, int n)
{
	DTRACE_PROBE3(cc, plain, current, &head, total);
	DTRACE_PROBE3(cc, refs, &c, c.fd, n);
	DTRACE_PROBE2(cc, ptr, q, q->depth);
	struct Local { Conn *current; __attribute__((noinline)) void go(int k) { DTRACE_PROBE2(cc, local, current, k); sink += k; } } l = {&c};
	l.go(n);
	int &r = n;
	DTRACE_PROBE1(cc, ref2, r);
	DTRACE_PROBE1(cc, ref3, &r);
	sink += c.fd + q->depth;
}
__attribute__((noinline)) void loops(std::vector<Conn *> &v)
{
	for (auto &e : v) { DTRACE_PROBE2(cc, each, e, e->fd); sink += e->fd; }
	for (auto e : v) { DTRACE_PROBE1(cc, each2, e); sink += e->fd; }
	try { throw Conn{1, sink}; } catch (const Conn &e) { DTRACE_PROBE2(cc, caught, &e, e.fd); sink += e.fd; }
}
// clang has the variables of both clauses in one block.
__attribute__((noinline)) void clauses(int n)
{
	try { if (n > 1) throw n; throw Conn{n, n}; }
	catch (int &e) { DTRACE_PROBE2(cc, caught2, &e, e); sink += e; }
	catch (const Conn &e) { DTRACE_PROBE2(cc, caught3, &e, e.fd); sink += e.fd; }
}
int main(int argc, char **)
{
	Conn c = {1, argc}; Queue q = {argc}; current = &q;
	Server s = {&c, c, 'x'}; Server::shared = &c;
	s.method(argc); s.cmethod(argc); s.tmethod(argc); s.smethod(argc); s.lambda(argc); s.lambda2(argc); clauses(argc); s.later(argc);
	Derived d; d.current = &c; d.total = 5; d.method(argc);
	TDerived<Conn> t; t.current = &c; t.method(argc);
	plain(&q, c, argc); ns::f(argc);
	std::vector<Conn *> v = {&c}; loops(v);
	return 0;
}
