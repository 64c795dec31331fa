/* SPDX-License-Identifier: GPL-2.0-only */

import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Threads that wait for one lock: Locks synchronized|reentrant. Four threads hold it for 20 ms at a time, and want it again 10 ms
 * later, so that three of them wait. Locks pool has 16 that wait for work, of which there is some each 20 ms, and for no lock.
 */
public final class Locks {
	private static final Object MONITOR = new Object();
	private static final ReentrantLock LOCK = new ReentrantLock();
	private static volatile long done;

	private static void spin(long milliseconds) {
		long until = System.nanoTime() + milliseconds * 1000000;

		while (System.nanoTime() < until)
			done++;
	}

	private static void holdMonitor() {
		synchronized (MONITOR) {
			spin(20);
		}
	}

	private static void holdLock() {
		LOCK.lock();
		try {
			spin(20);
		} finally {
			LOCK.unlock();
		}
	}

	private static void contend(Runnable hold) {
		for (int i = 0; i < 4; i++)
			new Thread(() -> {
				for (;;) {
					hold.run();
					spin(10);
				}
			}).start();
	}

	public static void main(String[] arguments) throws InterruptedException {
		if (arguments[0].equals("synchronized"))
			contend(Locks::holdMonitor);
		else if (arguments[0].equals("reentrant"))
			contend(Locks::holdLock);
		System.out.println("ready");
		if (!arguments[0].equals("pool"))
			return;
		ExecutorService pool = Executors.newFixedThreadPool(16);
		for (;;) {
			Thread.sleep(20);
			pool.execute(() -> done++);
		}
	}
}
