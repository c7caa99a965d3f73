// Names of seed.cc with other types: a second unit, which disagrees.
namespace a { namespace b { struct S { char c; enum K { K1 = 7, K2 } k; enum class C : char { C1 = -1 } c1; S *next; }; } }
struct Out { int u; struct Fwd *f; };
typedef struct { long q; } anon_t;
a::b::S t1; Out out2; anon_t an2;
int two() { return out2.u + (int)an2.q; }
