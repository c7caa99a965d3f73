// systemtap's macros: what its probes pass is inferred, not declared.
#include <stdint.h>
#include <sys/sdt.h>

enum phase { PHASE_IDLE, PHASE_BUSY, PHASE_DRAIN, PHASE_DONE };
enum kind { KIND_FILE = 10, KIND_PIPE };
struct task { long id; const char *name; enum phase phase; };
struct page { double weight; int order; };

__attribute__((noinline)) int run(struct task *task, enum phase phase, enum kind kind, uint8_t level)
{
	DTRACE_PROBE4(plain, run, task, phase, kind, level);
	return task->phase + level;
}

int main(int argc, char **argv)
{
	struct task task = {argc, argv[0], PHASE_BUSY};
	struct page page = {0.5, argc};
	return run(&task, task.phase, KIND_PIPE, (uint8_t)(argc + page.order));
}
