# SPDX-License-Identifier: Apache-2.0
"""A program of evolution-data-server's: does with accounts' passwords what its words say, in turn, and
prints what each gave. What it keeps comes from standard input, a line each."""

import sys

import gi

gi.require_version("EDataServer", "1.2")
from gi.repository import EDataServer, GLib  # noqa: E402 (the version is said before)


def done(step, account):
    if step == "find":
        return EDataServer.secret_store_lookup_sync(account, None)[1]
    if step == "delete":
        return EDataServer.secret_store_delete_sync(account, None)
    return EDataServer.secret_store_store_sync(account, sys.stdin.readline().strip(), "Mail of " + account,
                                               step == "keep", None)


for word in sys.argv[1:]:
    try:
        print(f"<{done(*word.split(':'))}>", flush=True)
    except GLib.Error as error:
        print(f"<failed: {error.message}>", flush=True)
