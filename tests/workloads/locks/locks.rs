// SPDX-License-Identifier: GPL-2.0-only

//! Threads that wait for one lock: locks mutex. Four of them hold it for 20 ms at a time, and want it again 10 ms later, so that
//! three of them wait. locks pool has 16 that wait for work at a condition variable, of which there is some each 20 ms.

use std::sync::{Condvar, Mutex};
use std::thread;
use std::time::{Duration, Instant};

static LOCK: Mutex<u64> = Mutex::new(0);
static HAS_WORK: Condvar = Condvar::new();

fn spin(milliseconds: u64) {
    let until = Instant::now() + Duration::from_millis(milliseconds);
    while Instant::now() < until {}
}

#[inline(never)]
fn hold() {
    let mut held = LOCK.lock().unwrap();
    spin(20);
    *held += 1;
}

fn contend() {
    loop {
        hold();
        spin(10);
    }
}

fn work() {
    let mut waiting = LOCK.lock().unwrap();
    loop {
        while *waiting == 0 {
            waiting = HAS_WORK.wait(waiting).unwrap();
        }
        *waiting -= 1;
    }
}

fn main() {
    let contends = std::env::args().nth(1).unwrap() == "mutex";
    for _ in 0..if contends { 4 } else { 16 } {
        thread::spawn(if contends { contend } else { work });
    }
    println!("ready");
    loop {
        thread::sleep(Duration::from_millis(20));
        if !contends {
            *LOCK.lock().unwrap() += 1;
            HAS_WORK.notify_one();
        }
    }
}
