# SPDX-License-Identifier: Apache-2.0
"""A program that reads as often as each line of its input says, with nothing of ours in it but the
protocol: what the counters count is the daemon's alone. The keychain gets its items from it."""

import sys

import wire

SECRET = b"a secret of 24 bytes ..."
ITEMS = 100


def main():
    client = wire.Client()
    for number in range(ITEMS):
        client.ask(wire.add_plain_item("counted", f"item-{number}"), SECRET)
    read(client, 200)
    print('{"name": "ready"}', flush=True)
    for line in sys.stdin:
        read(client, int(line))
        print('{"name": "read"}', flush=True)


def read(client, count):
    for number in range(count):
        answer = client.ask(wire.read_item("counted", f"item-{number * 7919 % ITEMS}"))
        assert answer == SECRET, answer


if __name__ == "__main__":
    main()
