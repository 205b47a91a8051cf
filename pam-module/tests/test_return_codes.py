# SPDX-License-Identifier: Apache-2.0
"""No combination of our codes logs a user in, or locks a user out."""

from fake_daemon import FakeDaemon, refused
from registry import codes, test
from world import PASSWORD

PERMIT, DENY = "required pam_permit.so", "required pam_deny.so"
# Every stack that a line of ours can stand in, between what permits and what denies.
STACKS = [(), (PERMIT,), (DENY,), ("ours",), ("ours", PERMIT), ("ours", DENY), (PERMIT, "ours"),
          (DENY, "ours"), (PERMIT, "ours", DENY), (DENY, "ours", PERMIT), (PERMIT, "ours", PERMIT),
          ("requisite pam_deny.so", "ours", PERMIT), ("sufficient pam_permit.so", "ours", DENY)]
CONTROLS = ["required", "requisite", "sufficient", "optional", "[default=ignore]",
            "[success=ok default=ignore]", "[success=1 default=ignore]",
            "[success=done ignore=ignore default=bad]", "[success=ok ignore=ignore default=die]"]
DAEMONS = {"alive": {}, "refusing": {"answer": refused(4)}, "dead": None}


def outcome(world, facility, steps, stack, control, options):
    lines = [f"{facility} {line}" if line != "ours" else world.line(facility, control, options)
             for line in stack if line != "ours" or control]
    # So that there is a password to keep.
    before = [world.any_password] if facility == "auth" else []
    world.service(*before, *lines)
    answers = (PASSWORD,) * 4
    return codes(world.host(*steps, answers=answers), *steps)


def compare(world, facility, steps, controls, options, stacks=STACKS):
    """With our line and without it, each stack says the same."""
    for stack in stacks:
        if "ours" not in stack:
            continue
        without = outcome(world, facility, steps, stack, None, "")
        if stack == ("ours",) and facility != "auth":
            continue
        for control in controls:
            found = outcome(world, facility, steps, stack, control, options)
            assert found == without, (facility, stack, control, options, without, found)


def with_each_daemon(world, body):
    for settings in DAEMONS.values():
        if settings is None:
            body()
        else:
            with FakeDaemon(world.socket, **settings):
                body()


@test("return codes: authenticate and setcred change no stack under any control value")
def _(world):
    for options in ("", "unlock"):
        with_each_daemon(world, lambda: compare(
            world, "auth", ("authenticate", "establish", "reinitialize"), CONTROLS, options))


@test("return codes: a service of nothing but us lets no user in")
def _(world):
    for control in CONTROLS:
        world.service(world.line("auth", control, "unlock"))
        with FakeDaemon(world.socket):
            found = codes(world.host("authenticate", "establish"), "authenticate", "establish")
        assert 0 not in found, (control, found)


@test("return codes: an optional session line changes no stack, whatever its options")
def _(world):
    for options in ("", "required", "strict required"):
        with_each_daemon(world, lambda: compare(
            world, "session", ("open", "close"), ["optional", "[default=ignore]"], options))


@test("return codes: an optional password line changes no stack, whatever its options")
def _(world):
    for options in ("", "strict"):
        with_each_daemon(world, lambda: compare(
            world, "password", ("change",), ["optional", "[default=ignore]"], options))


@test("return codes: without `required` a required session line locks no user out")
def _(world):
    with_each_daemon(world, lambda: compare(
        world, "session", ("open", "close"), ["required", "requisite"], "",
        [stack for stack in STACKS if PERMIT in stack or DENY in stack]))
