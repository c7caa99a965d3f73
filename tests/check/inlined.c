// A function that is called through a pointer, and inlined where it is called; one that is only inlined.
#define INLINE static inline __attribute__((always_inline))
volatile int sink;
INLINE int put(int n) { return sink += n; }
INLINE int only(int n) { return sink -= n; }
int first(int n);
__attribute__((noinline)) int first(int n) { return put(n) + put(n + 1) + only(n); }
int second(int n);
__attribute__((noinline)) int second(int n) { return put(n); }
int (*volatile called)(int) = put;
int main(int argc, char **argv) { (void)argv; return first(argc) + second(argc) + called(argc); }
