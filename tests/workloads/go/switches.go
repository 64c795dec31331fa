// SPDX-License-Identifier: GPL-2.0-only

// Goroutines that leave their stack for the scheduler's in every way, each below the same known callers.
package main

/*
static volatile unsigned long sum;
static __attribute__((noinline)) void burn_in_c(int count) { for (int i = 0; i < count; i++) sum += i; }
static __attribute__((noinline)) void call_burn(int count) { burn_in_c(count); sum++; }
*/
import "C"

import (
	"runtime"
	"time"
)

var clock time.Time

//go:noinline
func outer(what func()) { middle(what) }

//go:noinline
func middle(what func()) { what() }

//go:noinline
func collect() { runtime.GC() }

//go:noinline
func ask() {
	for i := 0; i < 1000; i++ {
		clock = time.Now()
	}
}

//go:noinline
func callC() { C.call_burn(1000000) }

//go:noinline
func deepen(left int, room [256]byte) int {
	if left == 0 {
		return int(room[3])
	}
	room[left] = byte(left)
	return deepen(left-1, room) + 1
}

func runCollect() {
	for {
		outer(collect)
	}
}

func runAsk() {
	for {
		outer(ask)
	}
}

func runCalling() {
	for {
		outer(callC)
	}
}

// each goroutine begins with a small stack
func runDeepen(done chan int) {
	outer(deepenOnce)
	done <- 1
}

//go:noinline
func deepenOnce() { deepen(60, [256]byte{}) }

func main() {
	done := make(chan int)
	go runCollect()
	go runAsk()
	go runCalling()
	for {
		go runDeepen(done)
		<-done
	}
}
