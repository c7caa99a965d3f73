/** demangle - symbols of C++ as its sources have them: _ZN2ns1fEi is ns::f(int). */
#ifndef VALUE_DEMANGLE_H
#define VALUE_DEMANGLE_H

#include "base/str.h"

/** As __cxa_demangle() does it, in @a; @symbol itself where it is none of C++. */
struct str demangle(struct arena *a, struct str symbol);

#endif
