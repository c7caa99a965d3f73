#ifndef JOB_H
#define JOB_H
#include <string>

namespace jobs
{
enum class state : unsigned char { WAITING, RUNNING, DONE, FAILED };

class job
{
public:
	job(int number, std::string name);
	void become(state to);
	void run();

private:
	int number;
	state now = state::WAITING;
	std::string name;
	double seconds = 0;
};
}

#endif
