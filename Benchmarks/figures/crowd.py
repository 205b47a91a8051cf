# SPDX-License-Identifier: Apache-2.0
"""crowd.py COUNT PROGRAM…: so many processes that follow orders, of these programs in turn, each
with a connection of its own. Lines that come in:

    read COUNT ITEMS           each reads
    reads SECONDS ITEMS MANY   so many of them read for so long, from the same moment on
    adds SECONDS MANY

One line of JSON answers each."""

import json
import subprocess
import sys
import time

LEAD = 0.1  # seconds, in which all have heard of it


def main(count, names):
    programs = [subprocess.Popen([names[number % len(names)], "orders"], stdin=subprocess.PIPE,
                                 stdout=subprocess.PIPE, text=True) for number in range(count)]
    ready = [json.loads(each.stdout.readline()) for each in programs]
    tell({"name": "ready", "processes": [each["process"] for each in ready]})
    for line in sys.stdin:
        words = line.split()
        if words[0] == "read":
            ordered(programs, line.strip())
            tell({"name": "read"})
            continue
        seconds, many = float(words[1]), int(words[-1])
        begin = time.monotonic_ns() + int(LEAD * 1e9)
        end = begin + int(seconds * 1e9)
        order = f"reads {words[2]} {begin} {end}" if words[0] == "reads" else f"adds {begin} {end}"
        heard = ordered(programs[:many], order)
        counts = [each["count"] for each in heard]
        tell({"name": words[0], "programs": many, "count": sum(counts), "least": min(counts),
              "most": max(counts), "a_second": sum(counts) / seconds,
              "p99_us": max(each["p99_us"] for each in heard),
              "most_us": max(each["most_us"] for each in heard)})
    for each in programs:
        each.stdin.close()
        each.wait()


def ordered(programs, order):
    for each in programs:
        each.stdin.write(order + "\n")
        each.stdin.flush()
    return [json.loads(each.stdout.readline()) for each in programs]


def tell(record):
    print(json.dumps(record), flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2:])
