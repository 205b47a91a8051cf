# SPDX-License-Identifier: Apache-2.0
"""The ticket, and the session keyring it lies in. The host starts each time with a new
one of root's."""

from fake_daemon import ACCEPTED, FakeDaemon, number_is, refused
from registry import SUCCESS, codes, test, word
from world import ALICE, BOB, NUMBER

TICKET_PERMISSIONS = "0b3f0000"


def key(words):
    """(serial, type, uid, permissions, description) of one of the host's lines."""
    serial, description = words[0], " ".join(words[1:])
    kind, uid, _, permissions, name = description.split(";", 4)
    return int(serial), kind, int(uid), permissions, name


def lines_of(lines, first):
    return [line[1:] for line in lines if line[0] == first]


def check_ticket(lines, at=0, owner=0):
    serial, kind, uid, permissions, name = key(lines_of(lines, "ticket")[at])
    assert (kind, uid, permissions, name) == ("user", owner, TICKET_PERMISSIONS, "keychain:ticket")
    missing = lines_of(lines, "ticket")[:at].count(["none"])
    assert lines_of(lines, "payload")[at - missing][0] == "32"
    return serial


@test("in place of root's keyring the session gets the user's own, with root's ticket in it")
def _(world):
    world.service(world.line("session"))
    with FakeDaemon(world.socket) as daemon:
        lines = world.host("keys", "open", "keys")
    before, after = (key(words) for words in lines_of(lines, "keyring"))
    assert before[2] == 0 and after[2] == ALICE and before[0] != after[0]
    assert lines_of(lines, "ticket")[0] == ["none"]
    assert check_ticket(lines, 1) == daemon.requests[0]["ticket"]


@test("a keyring that is the user's own already (pam_keyinit) is kept")
def _(world):
    world.service(world.line("session"))
    with FakeDaemon(world.socket):
        lines = world.host(f"keyring-of={ALICE}", "keys", "open", "keys")
    before, after = (key(words) for words in lines_of(lines, "keyring"))
    assert before == after
    check_ticket(lines, 1)


@test("the real pam_keyinit, before us and after us: the ticket is found")
def _(world):
    for before, behind in ((["session required pam_keyinit.so force revoke"], []),
                           ([], ["session required pam_keyinit.so revoke"])):
        world.service(*before, world.line("session"), *behind)
        with FakeDaemon(world.socket) as daemon:
            lines = world.host("open", "keys", "close")
        assert codes(lines, "open", "close") == [SUCCESS, SUCCESS]
        assert key(word(lines, "keyring"))[2] == ALICE
        assert check_ticket(lines) == daemon.requests[0]["ticket"]


@test("another user's keyring is left (su)")
def _(world):
    world.service(world.line("session"))
    with FakeDaemon(world.socket):
        lines = world.host(f"keyring-of={BOB}", "open", "keys")
    assert key(word(lines, "keyring"))[2] == ALICE


@test("the keyring that all of a user's sessions share is not taken for this one's (set-uid su)")
def _(world):
    world.service(world.line("session"))
    with FakeDaemon(world.socket):
        lines = world.host(f"real={ALICE}", "keys", "open", "keys")
    before, after = (key(words) for words in lines_of(lines, "keyring"))
    assert before[2] == after[2] == ALICE and before[4] == f"_uid_ses.{ALICE}"
    assert after[0] != before[0] and not after[4].startswith("_uid")
    check_ticket(lines, 1)


@test("the session keyring alone holds the ticket, not the host's thread")
def _(world):
    world.service(world.line("session"))
    with FakeDaemon(world.socket):
        assert codes(world.host("thread-keys", "open", "thread-keys"), "thread-keys") == [0, 0]


@test("a session within a session gets its own ticket, and leaves the other's alone")
def _(world):
    world.service(world.line("session"))
    with FakeDaemon(world.socket) as daemon:
        # `su - kc-alice` from inside that user's own session.
        lines = world.host("open", "keys", "end", "child=open", "keys", "open", "keys", "close")
    outer, still, inner = (check_ticket(lines, at) for at in (0, 1, 2))
    assert outer == still != inner
    payloads = lines_of(lines, "payload")
    assert payloads[0] == payloads[1] != payloads[2]
    tickets = [request["ticket"] for request in daemon.requests]
    assert tickets[0] == outer and tickets[2:] == [inner, inner] and len(set(tickets)) == 3


@test("a ticket that the user planted is not taken for ours")
def _(world):
    world.service(world.line("session"))
    with FakeDaemon(world.socket) as daemon:
        lines = world.host(f"keyring-of={ALICE}", f"plant={ALICE}", "keys", "open", "keys")
    planted, ours = (key(words) for words in lines_of(lines, "ticket"))
    assert planted[2] == ALICE and ours[2] == 0 and planted[0] != ours[0]
    assert check_ticket([line for line in lines if line[:2] != ["ticket", str(planted[0])]
                         and line[:2] != ["payload", "7"]]) == daemon.requests[0]["ticket"]


@test("close_session revokes the ticket by its serial, also when the keyring is gone")
def _(world):
    world.service(world.line("session"))
    for between in ([], [f"keyring-of={ALICE}"]):
        with FakeDaemon(world.socket) as daemon:
            lines = world.host("open", "keys", *between, "close", "last-ticket")
        assert lines_of(lines, "ticket")[1][1:] == ["gone"], lines
        assert daemon.requests[1]["verb"] == "close"


@test("close_session revokes the ticket also when the daemon has died")
def _(world):
    world.service(world.line("session"), "session required pam_permit.so")
    for number, owner in ((0, 0), (NUMBER, NUMBER)):
        with FakeDaemon(world.socket, number=number, answer=lambda connection: connection.close()):
            lines = world.host("open", "keys", "close", "last-ticket")
        check_ticket(lines, owner=owner)
        assert lines_of(lines, "ticket")[1][1:] == ["gone"], lines


@test("close_session without open_session does nothing")
def _(world):
    world.service(world.line("session"), "session required pam_permit.so")
    with FakeDaemon(world.socket) as daemon:
        assert codes(world.host("close"), "close") == [SUCCESS]
    assert daemon.connections == 0


@test("two sessions of one user: the end of one leaves the other's ticket")
def _(world):
    world.service(world.line("session"))
    with FakeDaemon(world.socket) as daemon:
        lines = world.host("open", "keys", "end", f"keyring-of={ALICE}", "open", "close",
                           "last-ticket")
    assert len({request["ticket"] for request in daemon.requests}) == 2
    assert lines_of(lines, "ticket")[1][1:] != ["gone"]


@test("the ticket belongs to the number that the daemon tells, and the keyring to the user")
def _(world):
    world.service(world.line("session"))
    for before in ([], [f"keyring-of={ALICE}"]):
        with FakeDaemon(world.socket, number=NUMBER) as daemon:
            lines = world.host(*before, "open", "keys", "close", "last-ticket", "thread-keys")
        assert codes(lines, "open", "close") == [SUCCESS, SUCCESS] and daemon.asked == [ALICE]
        assert key(word(lines, "keyring"))[2] == ALICE
        serial = check_ticket(lines, owner=NUMBER)
        assert [request["ticket"] for request in daemon.requests] == [serial, serial]
        # Its end is the module's work, too.
        assert lines_of(lines, "ticket")[1][1:] == ["gone"] and codes(lines, "thread-keys") == [0]


@test("a ticket of the number's that its host lost is its owner's to end")
def _(world):
    world.service(world.line("session"))
    with FakeDaemon(world.socket, number=NUMBER) as daemon:
        lines = world.host("open", "keys", f"keyring-of={ALICE}", "close")
    assert codes(lines, "close") == [SUCCESS]
    assert daemon.requests[1]["ticket"] == check_ticket(lines, owner=NUMBER)


@test("a session within a session leaves the ticket of the number that is there already")
def _(world):
    world.service(world.line("session"))
    with FakeDaemon(world.socket, number=NUMBER) as daemon:
        lines = world.host("open", "keys", "end", "child=open", "keys", "open", "keys")
    outer, still, inner = (check_ticket(lines, at, NUMBER) for at in (0, 1, 2))
    assert outer == still != inner
    assert len({request["ticket"] for request in daemon.requests}) == 3


@test("a login that is told no number has no ticket: refused, no answer, or no sense")
def _(world):
    world.service(world.line("session"), "session required pam_permit.so")
    whole = number_is(NUMBER)
    for number in (refused(6), refused(4), whole[:-1], whole[:-4] + b"\xff" * 4, b"\xff" * 64,
                   ACCEPTED, lambda connection: connection.sendall(whole[:5]), None):
        with FakeDaemon(world.socket, number=number) as daemon:
            lines = world.host("keys", "open", "keys", "close")
        assert codes(lines, "open", "close") == [SUCCESS, SUCCESS], (number, lines)
        assert lines_of(lines, "ticket") == [["none"]] * 2, (number, lines)
        before, after = (key(words) for words in lines_of(lines, "keyring"))
        assert before == after and daemon.asked == [ALICE]
        assert [(r["verb"], r["ticket"]) for r in daemon.requests] == [("open", 0), ("close", 0)], number


@test("a login that is told no number leaves the ticket of the session around it")
def _(world):
    world.service(world.line("session"), "session required pam_permit.so")
    numbers = iter((number_is(NUMBER), refused(4)))
    with FakeDaemon(world.socket, number=lambda connection: connection.sendall(next(numbers))) as daemon:
        lines = world.host("open", "keys", "end", "child=open", "keys")
    serial = check_ticket(lines, 0, NUMBER)
    assert check_ticket(lines, 1, NUMBER) == serial
    assert [request["ticket"] for request in daemon.requests] == [serial, 0]


@test("tickets that ended do not use up the number's quota")
def _(world):
    world.service(world.line("session"))
    with FakeDaemon(world.socket, number=NUMBER) as daemon:
        lines = world.host(*["open", "close"] * 300)
    assert set(codes(lines, "open", "close")) == {SUCCESS}
    assert all(request["ticket"] > 0 for request in daemon.requests)


@test("a user whose key quota is full logs in, with a ticket in root's keyring")
def _(world):
    world.service(world.line("session"), "session required pam_permit.so")
    try:
        with FakeDaemon(world.socket) as daemon:
            lines = world.host(f"fill-quota-of={ALICE}", "open", "keys")
    finally:
        world.host(f"empty-quota-of={ALICE}")
    assert codes(lines, "open") == [SUCCESS]
    assert key(word(lines, "keyring"))[2] == 0
    assert check_ticket(lines) == daemon.requests[0]["ticket"]


@test("a number whose quota is full gets no ticket, and none of root's is left")
def _(world):
    world.service(world.line("session"))
    try:
        with FakeDaemon(world.socket, number=NUMBER + 1) as daemon:
            lines = world.host(f"fill-quota-of={NUMBER + 1}", "open", "keys", "close")
    finally:
        world.host(f"empty-quota-of={NUMBER + 1}")
    assert codes(lines, "open", "close") == [SUCCESS, SUCCESS]
    assert [request["ticket"] for request in daemon.requests] == [0, 0]
    assert ["ticket", "none"] in lines
