/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * inlines runs where three functions are at one address: hog::Counter::spin(), inlined into the template
 * hog::twice<>(), inlined into hog::outer(). Its profile is known beforehand: its line numbers are set by
 * hand, and labels mark the places. It also has functions with names of rustc. inlines [SECONDS]: runs so
 * long, or ten seconds.
 */
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <unistd.h>

static volatile sig_atomic_t stop; /* set by the signal handler */

static void on_signal(int)
{
	stop = 1;
}

/* In a function that is inlined once: a label, which no function has as its name. */
#define PLACE(name) __asm__ volatile(".globl place_" name "\nplace_" name ": nop")

/* Makes a frame in a function that calls nothing, so that an unwinder by frame pointers finds its caller. */
#define FRAME() __asm__ volatile("" : : "r"(__builtin_frame_address(0)))

/* A function as a program in Rust has it. */
#define RUST(function, name)                                                                                 \
	extern "C" int function(int x) __asm__(name);                                                        \
	extern "C" __attribute__((noinline, used)) int function(int x)                                       \
	{                                                                                                    \
		__asm__ volatile("nop" : "+r"(x));                                                           \
		return x + 1;                                                                                \
	}

RUST(rust_v0, "_RNvC6_123foo3bar")
RUST(rust_legacy, "_ZN4core3fmt9Formatter3pad17h0123456789abcdefE")

#define INLINED __attribute__((always_inline)) inline

namespace hog
{
struct Counter {
	unsigned long value;
	INLINED void spin(unsigned int rounds);
};

#line 100 "inlines.cc"
INLINED void Counter::spin(unsigned int rounds)
{
	PLACE("spin");
	for (unsigned int i = 0; i < rounds; i++) {
		value = value * 6364136223846793005UL + 1442695040888963407UL;
		__asm__ volatile("" : "+r"(value));
	}
}

#line 200 "inlines.cc"
template <typename Number> INLINED void twice(Number &number, unsigned int rounds)
{
	PLACE("twice");
	number.value += 2;
	number.spin(2 * rounds);
}

#line 300 "inlines.cc"
__attribute__((noinline)) unsigned long outer(unsigned int rounds)
{
	Counter counter = { rounds };
	FRAME();
	PLACE("outer");
	twice(counter, rounds);
	return counter.value;
}
} // namespace hog

int main(int count, char **words)
{
	unsigned long sum = static_cast<unsigned long>(rust_v0(1) + rust_legacy(2));

	signal(SIGTERM, on_signal);
	signal(SIGALRM, on_signal);
	alarm(count > 1 ? static_cast<unsigned int>(atoi(words[1])) : 10);
	puts("ready");
	fflush(stdout);
	while (!stop)
		sum += hog::outer(100000);
	return sum == 1;
}
