# SPDX-License-Identifier: Apache-2.0
"""Hosts that are unusual or in trouble: threads, signals, limits, namespaces, set-user-id."""

from fake_daemon import FakeDaemon, refused
from registry import SUCCESS, Skip, codes, slowest, test, word
from test_secrets import COMPLEMENT, found
from world import ALICE, PASSWORD


def service(world, options=""):
    world.service(world.any_password, world.line("auth", options=options),
                  "session required pam_permit.so", world.line("session", options=options),
                  "password required pam_permit.so", world.line("password", options=options))


@test("a host with threads: each login has its own password, ticket and descriptors")
def _(world):
    service(world)
    with FakeDaemon(world.socket) as daemon:
        lines = world.host("descriptors", "threads=8", "descriptors")
    assert codes(lines, "threads") == [8], lines
    counts = codes(lines, "descriptors")
    assert counts[0] == counts[1], lines
    opened = [request for request in daemon.requests if request["verb"] == "open"]
    closed = [request for request in daemon.requests if request["verb"] == "close"]
    assert sorted(request["password"] for request in opened) == [f"thread {n}" for n in range(8)]
    tickets = {request["ticket"] for request in opened}
    assert len(tickets) == 8 and 0 not in tickets
    assert tickets == {request["ticket"] for request in closed}


@test("a daemon that hangs up at once raises no SIGPIPE in the host")
def _(world):
    service(world, "required")
    for _ in range(20):
        with FakeDaemon(world.socket, hangs_up=True):
            lines = world.host("authenticate", COMPLEMENT, "open", COMPLEMENT)
        assert found(lines) == [1, 0], lines


@test("signals, ids, folder and mask of the host are as they were; its children are its own")
def _(world):
    service(world)
    steps = ("authenticate", "refresh", "authenticate", "open", "change", "close")
    for before in ((), ("ignore-children",)):
        with FakeDaemon(world.socket):
            lines = world.host(*before, "process", *steps, "process", answers=("a password",) * 4)
        assert codes(lines, *set(steps)) == [SUCCESS] * len(steps), lines
        seen = [line for line in lines if line[0] == "process"]
        assert len(seen) > 10 and seen[:len(seen) // 2] == seen[len(seen) // 2:], seen
    with FakeDaemon(world.socket):
        assert word(world.host("await-child"), "child-reaped") == ["1"]


@test("a host without a free descriptor logs in, and keeps neither password nor ticket")
def _(world):
    service(world)
    # libpam itself may need one for its audit record, so its own code is what is compared with.
    steps = ("authenticate", "max-files=3", "open", "close", "max-files=64", COMPLEMENT, "keys")
    with FakeDaemon(world.socket) as daemon:
        ours = world.host(*steps)
        world.service(world.any_password, "session required pam_permit.so")
        without = world.host(*steps)
    assert codes(ours, "open", "close") == codes(without, "open", "close"), ours
    assert daemon.connections == 0 and found(ours) == [0], ours
    assert ["ticket", "none"] in ours, ours


@test("a locker that may lock no memory offers its password all the same, and then forgets it")
def _(world):
    service(world, "unlock")
    with FakeDaemon(world.offer_socket, mode=0o666) as offer:
        lines = world.host("max-locked=0", f"as={ALICE}", "authenticate", "refresh", COMPLEMENT)
    assert codes(lines, "authenticate") == [SUCCESS] and found(lines) == [0], lines
    assert [(r["verb"], r["password"]) for r in offer.requests] == [("offer", PASSWORD)]


@test("a password that is enormous is neither sent nor kept, in a login as in a change")
def _(world):
    world.service(f"auth required {world.root}/plain/pam_answer.so", world.line("auth"),
                  world.line("session"),
                  f"password required {world.root}/plain/pam_answer.so", world.line("password"))
    huge = "h" * 1090
    with FakeDaemon(world.socket) as daemon:
        world.host("authenticate", "open", answers=(huge,))
        world.host("change", answers=(huge,) * 3)
    assert [r["password"] for r in daemon.requests if r["verb"] == "open"] == [None]
    assert all(r["verb"] != "change" for r in daemon.requests)


@test("an empty password is offered as one, and can be changed from and to")
def _(world):
    world.service(f"auth required {world.root}/plain/pam_answer.so",
                  world.line("auth", options="unlock"),
                  f"password required {world.root}/plain/pam_answer.so", world.line("password"))
    with FakeDaemon(world.socket) as daemon:
        world.host("authenticate", answers=("",))
        world.host("change", answers=("", "new", "new"))
    assert [(r["verb"], r["password"], r["new"]) for r in daemon.requests] == [
        ("offer", "", None), ("change", "", "new")]


@test("a login that has an expired password changed, as root: sent, and opened with the new one")
def _(world):
    new = "an entirely new Passw0rd"
    world.login_service("strict")
    with FakeDaemon(world.socket) as daemon:
        lines = world.host("authenticate", "change-expired", "open",
                           answers=(PASSWORD, PASSWORD, new, new))
    world.restore_passwords()
    assert codes(lines, "change-expired", "open") == [SUCCESS] * 2, lines
    assert [(r["verb"], r["password"], r["new"]) for r in daemon.requests] == [
        ("change", PASSWORD, new), ("open", new, None)]


@test("an expired password that its user does not change after all: nothing is sent")
def _(world):
    world.login_service("strict")
    with FakeDaemon(world.socket) as daemon:
        lines = world.host("authenticate", "change-expired", answers=(PASSWORD, PASSWORD))
    assert codes(lines, "change-expired") != [SUCCESS] and daemon.connections == 0, lines


@test("while the user is told something, the password is gone already")
def _(world):
    service(world, "debug")
    for step in ("open", "refresh"):
        lines = world.host(f"interlude={COMPLEMENT}", "authenticate", step)
        assert found(lines) == [0], (step, lines)


@test("a host that ends its handle, or begins again, while the user is told something lives on")
def _(world):
    service(world, "debug")
    for interlude in ("end", "user=root", "user="):
        lines = world.host(f"interlude={interlude}", "authenticate", "open", "interlude=none",
                           "end", COMPLEMENT)
        assert codes(lines, "open") == [SUCCESS] and found(lines) == [0], (interlude, lines)


@test("a set-user-id host speaks as root at the login socket, whichever user called it")
def _(world):
    service(world, "unlock")
    with FakeDaemon(world.socket) as login, FakeDaemon(world.offer_socket, mode=0o666) as offer:
        lines = world.host(f"real={ALICE}", "authenticate", "open", "close")
    assert codes(lines, "authenticate", "open", "close") == [SUCCESS] * 3
    assert [r["verb"] for r in login.requests] == ["offer", "open", "close"]
    assert [peer[1] for peer in login.peers] == [0] * 4 and offer.connections == 0


@test("a host in a mount namespace of its own is served, one in a user namespace trusts nothing")
def _(world):
    service(world)
    with FakeDaemon(world.socket) as daemon:
        lines = world.host("mount-namespace", "authenticate", "open", "close")
        assert codes(lines, "open", "close") == [SUCCESS] * 2
        assert [r["verb"] for r in daemon.requests] == ["open", "close"]
        lines = world.host("user-namespace", "authenticate", "open", "close")
        if ["unshare", "failed"] in lines:
            raise Skip("no user namespaces here")
        assert codes(lines, "open", "close") == [SUCCESS] * 2, lines
    assert len(daemon.requests) == 2


@test("a service that names us twice opens one session, and ends it")
def _(world):
    world.service(world.any_password, world.line("auth"), world.line("session", "required"),
                  world.line("session", "required"))
    with FakeDaemon(world.socket) as daemon:
        lines = world.host("authenticate", "open", "keys", "close", "last-ticket")
    assert codes(lines, "open") == [SUCCESS], lines
    assert [(r["verb"], r["password"]) for r in daemon.requests] == [
        ("open", PASSWORD), ("close", None)]
    assert lines[-1][2] == "gone", lines


@test("a session ends for whom it began, whatever the host calls the user by then")
def _(world):
    service(world)
    for user in ("root", "kc-bob", ""):
        with FakeDaemon(world.socket) as daemon:
            lines = world.host("open", "keys", f"user={user}", "close", "last-ticket")
        assert [(r["verb"], r["uid"], r["account"]) for r in daemon.requests] == [
            (verb, ALICE, "kc-alice") for verb in ("open", "close")], user
        assert lines[-1][2] == "gone", (user, lines)


@test("a host that is root no more when its session ends (systemd's) says nothing, and logs nothing")
def _(world):
    service(world)
    with FakeDaemon(world.socket) as login, FakeDaemon(world.offer_socket, mode=0o666) as offer:
        lines = world.host("open", f"as={ALICE}", "close")
    assert codes(lines, "open", "close") == [SUCCESS] * 2, lines
    assert [r["verb"] for r in login.requests] == ["open"] and offer.connections == 0
    assert not any(line[0] == "log" for line in lines), lines


@test("the password of an account that has no keychain is not kept")
def _(world):
    service(world)
    for user in ("root", "kc-system", "nobody"):
        lines = world.host("authenticate", COMPLEMENT, user=user)
        assert found(lines) == [0], (user, lines)


@test("a login waits no longer where the daemon refuses, with every option")
def _(world):
    service(world, "debug required strict unlock")
    with FakeDaemon(world.socket, answer=refused(3)):
        lines = world.host("authenticate", "open", "close")
    assert slowest(lines) < 1000, lines
