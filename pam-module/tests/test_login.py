# SPDX-License-Identifier: Apache-2.0
"""What the daemon is told, by which function, and what is not."""

from fake_daemon import ACCEPTED, FakeDaemon, refused
from registry import AUTHTOK_ERR, SUCCESS, codes, test, word
from world import ALICE, BOB, PASSWORD

LOGIN = ("authenticate", "account", "establish", "open", "close", "end")


@test("pamtester: all five functions")
def _(world):
    world.login_service()
    with FakeDaemon(world.socket) as daemon:
        done = world.pamtester(
            "authenticate", "setcred(PAM_ESTABLISH_CRED)", "open_session", "close_session")
        assert done.returncode == 0, done
        world.service("password required pam_unix.so", world.line("password"))
        done = world.pamtester("chauthtok", answers=("another good password",) * 2)
        assert done.returncode == 0, done
    world.restore_passwords()
    # root is not asked for the old password: then neither is sent.
    assert [request["verb"] for request in daemon.requests] == ["open", "close", "reset"]
    assert (daemon.requests[2]["password"], daemon.requests[2]["new"]) == (None, None)


@test("open_session tells the daemon all that the host knows")
def _(world):
    world.login_service()
    with FakeDaemon(world.socket) as daemon:
        lines = world.host("pid", "tty=pts/7", "rhost=192.0.2.1", "env=XDG_SESSION_ID=c5", *LOGIN)
    assert codes(lines, "authenticate", "open", "close") == [SUCCESS] * 3
    opened, closed = daemon.requests
    pid = int(word(lines, "pid")[0])
    audit = int(open("/proc/self/sessionid").read())
    assert opened == {
        "verb": "open", "uid": ALICE, "ticket": opened["ticket"], "leader": pid, "audit": audit,
        "remote": True, "account": "kc-alice", "service": "kc-test", "tty": "pts/7",
        "session": "c5", "password": PASSWORD, "new": None, "silent": False,
        "authenticated": True}
    assert opened["ticket"] > 0
    assert (closed["verb"], closed["ticket"]) == ("close", opened["ticket"])
    assert (closed["uid"], closed["password"]) == (ALICE, None)
    assert [peer[:2] for peer in daemon.peers] == [(pid, 0)] * 3
    # Before the session is opened, and on a connection of its own.
    assert daemon.asked == [ALICE]


@test("hints that make no sense cost no user the session")
def _(world):
    world.login_service()
    with FakeDaemon(world.socket) as daemon:
        lines = world.host("env=XDG_SESSION_ID=a\nb", "tty=" + "x" * 300, *LOGIN)
    assert codes(lines, "open") == [SUCCESS]
    opened = daemon.requests[0]
    assert (opened["verb"], opened["session"], opened["tty"]) == ("open", "", "")


@test("authenticate alone tells the daemon nothing")
def _(world):
    world.login_service()
    with FakeDaemon(world.socket) as daemon:
        world.host("authenticate", "account", "establish", "delete", "end")
        world.host("authenticate", "end", answers=("wrong",))
    assert daemon.connections == 0


@test("after a wrong password only the right one is sent")
def _(world):
    world.login_service()
    with FakeDaemon(world.socket) as daemon:
        world.host("authenticate", *LOGIN, answers=("a wrong one", PASSWORD))
    assert [request["password"] for request in daemon.requests] == [PASSWORD, None]


@test("a session without authentication (a public key) is opened without a password")
def _(world):
    world.login_service()
    with FakeDaemon(world.socket) as daemon:
        assert codes(world.host("open", "close"), "open", "close") == [SUCCESS, SUCCESS]
    assert daemon.requests[0]["password"] is None


@test("authenticate in a child, open_session in its parent: opened without a password")
def _(world):
    world.login_service()
    with FakeDaemon(world.socket) as daemon:
        lines = world.host("child=authenticate", "open", "close")
    assert codes(lines, "authenticate", "open") == [SUCCESS, SUCCESS]
    assert daemon.requests[0]["password"] is None and daemon.requests[0]["ticket"] > 0


@test("whether the user was authenticated here is said, with a password or without any")
def _(world):
    world.login_service()
    with FakeDaemon(world.socket) as daemon:
        world.host("authenticate", "open", "close")
        world.host("open", "close")
        world.host("child=authenticate", "open", "close")
        world.host("authenticate", "user=kc-bob", "open", "close")
        world.host("authenticate", "open", "open", "close")
    said = [r["authenticated"] for r in daemon.requests if r["verb"] == "open"]
    assert said[:5] == [True, False, False, False, True]
    world.service("auth required pam_permit.so", world.line("auth"), world.line("session"))
    with FakeDaemon(world.socket) as daemon:
        world.host("authenticate", "open", "close")
    request = daemon.requests[0]
    assert request["authenticated"] and request["password"] is None


@test("a password that was given for another user is not sent (sudo)")
def _(world):
    world.login_service()
    for between in ([], ["reinitialize"]):
        with FakeDaemon(world.socket) as daemon:
            world.host("authenticate", "user=kc-bob", *between, "open", "close")
        assert [(r["uid"], r["password"]) for r in daemon.requests] == [(BOB, None), (BOB, None)]


@test("a password is sent once: a second session of the same handle gets none")
def _(world):
    world.login_service()
    with FakeDaemon(world.socket) as daemon:
        world.host("authenticate", "open", "close", "open", "close")
    assert [r["password"] for r in daemon.requests] == [PASSWORD, None, None, None]


@test("an empty password is sent as an empty one, not as none")
def _(world):
    world.service(world.any_password, world.line("auth"), world.line("session"))
    with FakeDaemon(world.socket) as daemon:
        world.host("authenticate", "open", answers=("",))
    assert daemon.requests[0]["password"] == ""


@test("a question that was cancelled leaves no password, not even an earlier one")
def _(world):
    world.service(world.any_password, world.line("auth"), world.line("session"))
    with FakeDaemon(world.socket) as daemon:
        lines = world.host("authenticate", "authenticate", "open")
        world.host("authenticate", "user=", "authenticate", "user=kc-alice", "open")
    assert codes(lines, "authenticate")[1] != SUCCESS
    assert [r["password"] for r in daemon.requests] == [None, None]


@test("the longest answer that PAM passes on is kept whole, a longer one not at all")
def _(world):
    world.service(world.any_password, world.line("auth"), world.line("session"))
    with FakeDaemon(world.socket) as daemon:
        world.host("authenticate", "open", answers=("p" * 511,))
        world.host("authenticate", "open", answers=("p" * 1024,))
    assert [r["password"] for r in daemon.requests] == ["p" * 511, None]


@test("the option unlock offers from authenticate, once; without it nothing is offered")
def _(world):
    world.login_service("unlock")
    with FakeDaemon(world.socket) as daemon:
        world.host("authenticate", "reinitialize", "end")
    assert [(r["verb"], r["uid"], r["password"]) for r in daemon.requests] == [
        ("offer", ALICE, PASSWORD)]


@test("unlock takes as long for an account that does not exist")
def _(world):
    world.service(world.any_password, world.line("auth", options="unlock"), world.line("session"))
    with FakeDaemon(world.socket, answer=refused(7)) as daemon:
        world.host("authenticate", "open", user="kc-nobody-of-this-name")
    assert [(r["verb"], r["uid"]) for r in daemon.requests] == [("offer", 0xFFFFFFFF)]


@test("setcred offers the kept password on renewal, and nothing without one")
def _(world):
    world.login_service()
    for renewal in ("reinitialize", "refresh"):
        with FakeDaemon(world.socket) as daemon:
            world.host("authenticate", renewal, renewal, "end")
            world.host(renewal, "end")
        assert [(r["verb"], r["password"]) for r in daemon.requests] == [("offer", PASSWORD)]


@test("system accounts, root and unknown ones are none of our business")
def _(world):
    world.service(world.any_password, world.line("auth"), world.line("session"),
                  "password required pam_permit.so", world.line("password"))
    with FakeDaemon(world.socket) as daemon:
        for user in ("root", "kc-system", "nobody", "kc-nobody-of-this-name"):
            world.host("authenticate", "reinitialize", "open", "close", "change", user=user)
        assert daemon.connections == 0
        world.service(world.line("session", options="min_uid=900"))
        world.host("open", user="kc-system")
        world.host("open", user="nobody")
    assert [r["account"] for r in daemon.requests] == ["kc-system"]


@test("an unknown or repeated option makes the module inert, and is logged")
def _(world):
    for options in ("debug debug", "surprise", "required min_uid=x", "min_uid=1 min_uid=1"):
        world.service(world.any_password, world.line("auth", options=options),
                      "session required pam_permit.so", world.line("session", "required", options))
        with FakeDaemon(world.socket) as daemon:
            lines = world.host("authenticate", "reinitialize", "open", "close", "keys")
        assert codes(lines, "open", "close") == [SUCCESS, SUCCESS]
        assert daemon.connections == 0 and ["ticket", "none"] in lines
        assert any(line[0] == "log" for line in lines)


@test("a locker that is not root offers its own user's password at offer.sock")
def _(world):
    world.service(world.any_password, world.line("auth", options="unlock"), world.line("session"))
    with FakeDaemon(world.socket) as login, FakeDaemon(world.offer_socket, mode=0o666) as offer:
        world.host(f"as={ALICE}", "authenticate", "refresh", "open")
        world.host(f"as={ALICE}", "authenticate", "refresh", user="kc-bob")
    assert login.connections == 0
    assert [(r["verb"], r["uid"], r["password"]) for r in offer.requests] == [
        ("offer", ALICE, PASSWORD)]
    assert [peer[1] for peer in offer.peers] == [ALICE]


@test("a user who changes the password: the daemon gets the old and the new one")
def _(world):
    new = "an entirely new Passw0rd"
    aged = world.shadow.replace(":19000::::::", ":0:0:99999:7:::")
    for options, answer, expected in (
            ("", None, SUCCESS), ("strict", None, SUCCESS), ("", refused(1), SUCCESS),
            ("strict", refused(1), AUTHTOK_ERR)):
        with open("/etc/shadow", "w") as file:
            file.write(aged)
        world.service("password requisite pam_unix.so", world.line("password", "required", options))
        with FakeDaemon(world.socket, **({"answer": answer} if answer else {})) as daemon:
            # pam_unix asks for the old password when the caller is not root by its real uid, as
            # in passwd, which is set-uid.
            lines = world.host(f"real={ALICE}", "change", answers=(PASSWORD, new, new))
        world.restore_passwords()
        assert codes(lines, "change") == [expected], lines
        assert [(r["verb"], r["uid"], r["password"], r["new"]) for r in daemon.requests] == [
            ("change", ALICE, PASSWORD, new)]


@test("nothing is sent in the first pass, even where both passwords are known")
def _(world):
    world.service(f"password required {world.root}/plain/pam_answer.so", world.line("password"))
    with FakeDaemon(world.socket) as daemon:
        lines = world.host("change", answers=("old", "new", "new"))
    assert codes(lines, "change") == [SUCCESS]
    assert [(r["password"], r["new"]) for r in daemon.requests] == [("old", "new")]


@test("after an expired password was changed the session is opened with the new one")
def _(world):
    new = "an entirely new Passw0rd"
    world.login_service()
    with FakeDaemon(world.socket) as daemon:
        lines = world.host(f"real={ALICE}", "authenticate", "change", "open",
                           answers=(PASSWORD, PASSWORD, new, new))
    world.restore_passwords()
    assert codes(lines, "authenticate", "change", "open") == [SUCCESS] * 3, lines
    assert [(r["verb"], r["password"]) for r in daemon.requests] == [
        ("change", PASSWORD), ("open", new)]


@test("root resets a password: the daemon hears that, and no password")
def _(world):
    world.service("password required pam_unix.so", world.line("password", "required", "strict"))
    with FakeDaemon(world.socket) as daemon:
        lines = world.host("change", answers=("an entirely new Passw0rd",) * 2)
        assert codes(lines, "change") == [SUCCESS], lines
        assert [(r["verb"], r["uid"], r["password"], r["new"]) for r in daemon.requests] == [
            ("reset", ALICE, None, None)]
    world.restore_passwords()
    # No user is kept from a new password by a daemon that does not answer.
    lines = world.host("change", answers=("an entirely new Passw0rd",) * 2)
    world.restore_passwords()
    assert codes(lines, "change") == [SUCCESS], lines


@test("a keychain that does not follow its owner's new password is not passed over in silence")
def _(world):
    world.service("auth required pam_unix.so", "password required pam_unix.so",
                  world.line("password"))
    new = "an entirely new Passw0rd"
    for answer, expected in ((refused(1), 1), (ACCEPTED, 0), (None, 1)):
        with FakeDaemon(world.socket, answer=answer, hangs_up=answer is None):
            lines = world.host(f"real={ALICE}", "authenticate", "change",
                               answers=(PASSWORD, PASSWORD, new, new))
        world.restore_passwords()
        said = [line for line in lines if "keeps its old password" in " ".join(line)]
        assert codes(lines, "change") == [SUCCESS] and len(said) == expected, lines
