# SPDX-License-Identifier: MIT
"""The Python package beside the command: the import, a check of the same checkpoint, checks in 8 threads, and memory.

    python3 package.py COMMAND CHECKPOINT RUNS

From the environment: SHAPEPROOF_LIBRARY, PYTHONPATH. Times are medians in milliseconds of wall time."""

import statistics
import subprocess
import sys
import threading
import time

THREADS = 8
CHECKS = 200  # in a round of threads
ROUNDS = 5


def milliseconds(call, runs):
    times = []
    for _ in range(runs):
        start = time.perf_counter()
        call()
        times.append((time.perf_counter() - start) * 1000)
    return statistics.median(times)


def resident():
    """The memory of this process, in MB."""
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * 4096 / 1e6


def in_threads(call, count):
    """Seconds that `count` calls take, shared by all threads."""
    left, lock = [count], threading.Lock()

    def work():
        while True:
            with lock:
                left[0] -= 1
                if left[0] < 0:
                    return
            call()

    threads = [threading.Thread(target=work) for _ in range(THREADS)]
    start = time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return time.perf_counter() - start


def main(command, checkpoint, runs):
    python = [sys.executable, "-c"]
    bare = milliseconds(lambda: subprocess.run([*python, "pass"], check=True), runs)
    imported = milliseconds(lambda: subprocess.run([*python, "import shapeproof"], check=True), runs)
    print(f"import shapeproof                     {imported - bare:8.1f} ms")

    import shapeproof

    start = time.perf_counter()
    expected = shapeproof.check(checkpoint).to_json()
    print(f"first check, which loads the library  {(time.perf_counter() - start) * 1000:8.1f} ms")
    of_package = milliseconds(lambda: shapeproof.check(checkpoint), runs)
    argv = [command, "check", "--json", checkpoint]
    of_command = milliseconds(lambda: subprocess.run(argv, stdout=subprocess.DEVNULL, check=False), runs)
    print(f"check in Python                       {of_package:8.1f} ms")
    print(f"check by the command                  {of_command:8.1f} ms")

    def check():
        if shapeproof.check(checkpoint).to_json() != expected:
            print("a thread has another report")

    alone = milliseconds(check, CHECKS) * CHECKS / 1000
    sizes = []
    for _ in range(ROUNDS):
        seconds = in_threads(check, CHECKS)
        sizes.append(resident())
    print(f"{CHECKS} checks, one thread                {alone:8.2f} s")
    print(f"{CHECKS} checks, {THREADS} threads                 {seconds:8.2f} s")
    print("memory after each round of threads    " + " ".join(f"{size:.1f}" for size in sizes) + " MB")


main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
