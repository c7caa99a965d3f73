// Types of every kind in little debug information: the seed that the fuzz targets start from.
namespace a { namespace b { struct S { struct In { int i; } in; enum K { K1, K2 } k; enum class C : char { C1 } c; unsigned f : 3; S *next; }; } }
struct Out { struct Fwd; Fwd *f; union { int u; char v[4]; }; }; struct Out::Fwd { struct Deep { int d[3][4]; } deep; }; template <class T> struct Box { T t; struct I { T u; } i; }; struct D : Out { int (*fn)(int); };
typedef struct { int q; } anon_t;
a::b::S s1; Out out; Out::Fwd fwd; Box<int> bi; D d; anon_t an;
int main() { Out *local = &out; int copy = local->u + an.q; { a::b::S *inner = &s1; copy += inner->in.i; } return copy; }
