# SPDX-License-Identifier: Apache-2.0
"""run.py BUILD [WORDS]: every test that can run here; one line each, then the count. WORDS
restricts the tests with a daemon to those whose sentence contains them."""

import os
import subprocess
import sys

import registry
import test_build
import world


def run_program(path):
    """A C program that prints its own lines."""
    done = subprocess.run([path], stdout=subprocess.PIPE)
    lines = done.stdout.decode().splitlines()
    print("\n".join(lines), flush=True)
    passed = sum(line.startswith("ok ") for line in lines)
    failed = sum(line.startswith("FAIL ") for line in lines)
    if done.returncode != 0 and failed == 0:
        print(f"FAIL {path} ended with {done.returncode}", flush=True)
        failed = 1
    return passed, failed


def main():
    build, only = os.path.abspath(sys.argv[1]), " ".join(sys.argv[2:])
    reason = world.why_not()
    if reason is None:
        world.enter()
    counts = []
    if not only:
        counts += [run_program(f"{build}/tests/{name}_test") for name in ("frame", "options")]
        counts.append(test_build.run(build))
    if reason is not None:
        print(f"skip the tests with a daemon and real PAM services: {reason}")
    else:
        import test_daemon
        import test_faults
        import test_hosts
        import test_login
        import test_return_codes
        import test_secrets
        import test_session_keyring
        import test_setup

        counts.append(registry.run_all(world.World(build), only))
    passed, failed = (sum(column) for column in zip(*counts))
    print(f"{passed} passed, {failed} failed")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
