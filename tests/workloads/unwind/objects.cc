/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * objects has the stacks of C++: instances of a template, whose frames have objects to destroy when an
 * exception passes, virtual functions, inlined functions, and the C++ library while it throws.
 */
#include "tests/workloads/unwind/run.h"

#include <algorithm>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace known
{

class Leaf
{
      public:
	virtual ~Leaf() = default;
	virtual void burn() = 0;
};

class Spinner : public Leaf
{
      public:
	SOLID void burn() override
	{
		while (!run_over)
			run_spin(RUN_MOMENT);
	}
};

/* Sorts with a function that is inlined into a function of the library. */
class Sorter : public Leaf
{
	std::vector<unsigned int> numbers;

      public:
	SOLID void burn() override
	{
		while (!run_over) {
			unsigned int state = 1;

			numbers.resize(1000);
			for (unsigned int &number : numbers)
				number = state = state * 1664525U + 1013904223U;
			std::sort(numbers.begin(), numbers.end(),
				  [](unsigned int a, unsigned int b) { return a % 1000 < b % 1000; });
		}
	}
};

class Thrower : public Leaf
{
	SOLID static void fail(unsigned int left)
	{
		std::string destroyed(left + 20, 'x');

		if (!left)
			throw std::runtime_error(destroyed);
		fail(left - 1);
	}

      public:
	SOLID void burn() override
	{
		while (!run_over) {
			try {
				fail(5);
			} catch (const std::exception &) {
			}
		}
	}
};

template <int LEFT> SOLID void descend(Leaf &leaf)
{
	std::string destroyed(LEFT + 20, 'x');

	descend<LEFT - 1>(leaf);
}

template <> SOLID void descend<0>(Leaf &leaf)
{
	leaf.burn();
	STAY();
}

} /* namespace known */

int main(int argc, char **argv)
{
	static const char *const kinds[] = { "spin", "sort", "throw", nullptr };
	std::unique_ptr<known::Leaf> leaf;
	run run;
	int parsed = run_begin("unwind_objects", kinds, argc, argv, &run);

	if (parsed >= 0)
		return parsed;
	if (run.kind == std::string("sort"))
		leaf = std::make_unique<known::Sorter>();
	else if (run.kind == std::string("throw"))
		leaf = std::make_unique<known::Thrower>();
	else
		leaf = std::make_unique<known::Spinner>();
	run_ready(&run);
	known::descend<40>(*leaf);
	return 0;
}
