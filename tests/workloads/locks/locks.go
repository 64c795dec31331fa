// SPDX-License-Identifier: GPL-2.0-only

// Goroutines that wait for one lock: locks mutex. Four of them hold it for 20 ms at a time, and want it again 10 ms later, so
// that three of them wait. locks pool has 16 that wait for work, of which there is some each 20 ms, and for no lock.
package main

import (
	"fmt"
	"os"
	"sync"
	"time"
)

var mutex sync.Mutex

func spin(length time.Duration) {
	for until := time.Now().Add(length); time.Now().Before(until); {
	}
}

func hold() {
	mutex.Lock()
	spin(20 * time.Millisecond)
	mutex.Unlock()
}

func contend() {
	for {
		hold()
		spin(10 * time.Millisecond)
	}
}

func main() {
	work := make(chan int)
	if os.Args[1] == "mutex" {
		for i := 0; i < 4; i++ {
			go contend()
		}
		fmt.Println("ready")
		select {}
	}
	for i := 0; i < 16; i++ {
		go func() {
			for range work {
			}
		}()
	}
	fmt.Println("ready")
	for {
		time.Sleep(20 * time.Millisecond)
		work <- 1
	}
}
