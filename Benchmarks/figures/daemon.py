# SPDX-License-Identifier: Apache-2.0
"""What reads, adds and unlocks cost through the daemon: in a private world, with real logins, the
keychains on a real disk."""

import hashlib
import importlib.machinery
import importlib.util
import json
import os
import pathlib
import re
import shutil
import sqlite3
import threading
import time

import anchors
import counting
import padding
import programs
import secret_service
import world
from table import median

PASSWORD = "bench-horse-7"
SMALL = 100
REAL = 2_000  # of a large keychain's items, that many are real ones
ROUNDS = 5
PLAIN = "keychain-bench-plain"  # the same program, as plain `swift build` makes it
BOTH = {0, min(1, os.cpu_count() - 1)}
POLICIES = pathlib.Path("/etc/keychain/policies.d")
RULES = 10_000
HEAD, PIECE = 64, 256 * 1024  # of a backup


class House:
    """A daemon, and the logins of four users: one with a small keychain, one with a large one, one
    with many programs, and one beside them; a fifth has programs that no profile was used for."""

    def __init__(self, built, size, plain=None):
        self.size = size
        self.disk = world.PREFIX / "disk"
        (self.disk / "state").mkdir(parents=True, mode=0o755)
        world.run("mount", "--bind", self.disk / "state", world.STATE)
        world.install_services()
        programs.install(built, ["keychain-bench", "swift-hello"])
        programs.install(anchors.BUILT, ["hello", "spawned", "bus"])
        programs.install_readers()
        if plain:
            shutil.copy(plain / "keychain-bench", world.PREFIX / "bin" / PLAIN)
            programs.install_readers(PLAIN)
        self.daemon = world.Daemon("/tmp/keychain-bench.log").start()
        self.daemon.worker("root", start=True)
        time.sleep(1)
        self.at_rest = programs.memory(self.serving("root"))
        self.server = world.SSHServer("/run/keychain-bench-sshd").start()
        self.shells = {}
        for name in ("small", "large", "crowd", "beside", *(["plain"] if plain else [])):
            world.make_account(f"kc-{name}", PASSWORD)
            self.shells[name] = world.Shell(self.server, f"kc-{name}", PASSWORD)
        self.fill("small", SMALL)
        self.fill("beside", SMALL)
        for reader in programs.readers():
            self.fill("crowd", SMALL, reader)
        if plain:
            for reader in (PLAIN, *programs.readers(PLAIN)):
                self.fill("plain", SMALL, reader)

    def __getitem__(self, name):
        return self.shells[name]

    def serving(self, name):
        """The processes that serve that user: keychaind, and the user's worker."""
        return self.daemon.pid, self.daemon.worker(name if name == "root" else f"kc-{name}")

    def fill(self, name, count, program="keychain-bench"):
        done = self[name].run(f"{program} fill {count}", seconds=600)
        assert done.status == 0, done

    def file(self, name):
        uid = world.pwd.getpwnam(f"kc-{name}").pw_uid
        return world.STATE / str(uid) / "login.keychain"

    def grow(self):
        """The large keychain. The sessions outlive the daemon's stop."""
        self.fill("large", REAL)
        self.daemon.stop()
        padding.pad(self.file("large"), self.size)
        self.daemon.start()

    def end(self):
        for shell in self.shells.values():
            shell.terminal.close(force=True)
        self.server.stop()
        self.daemon.stop()
        world.run("umount", "--lazy", world.STATE)


def measure(table, built, size, plain):
    house = House(built, size, plain)
    try:
        for part in (reads, at_once, without_profile, other_user, beside_troubles, counters, firsts,
                     unlocks, adds, evidence, rules, whole_process, locks, sizes, over_the_bus):
            try:
                part(table, house)
            except counting.Forbidden as forbidden:
                table.skip(part.__name__, str(forbidden))
    finally:
        house.end()


def reads(table, house):
    table.heading("One read of a secret through the daemon, 100 items")
    program = programs.orders(house["small"])
    program.order(f"read 500 {SMALL}")
    rounds = {1: [], 2: []}
    for _ in range(ROUNDS):
        for cores in (1, 2) if os.cpu_count() > 1 else (1,):
            programs.pin([program.ready["process"]], {0})
            programs.pin(house.serving("small"), {cores - 1})
            rounds[cores].append((anchors.round_trip(cores), anchors.floor(cores),
                                  anchors.floor(cores, kept=True),
                                  program.order(f"read 1500 {SMALL}"),
                                  program.order(f"search 1500 {SMALL}")))
    programs.pin(house.serving("small"), BOTH)
    program.end()
    for cores, what in (1, "one core"), (2, "two cores"):
        if not rounds[cores]:
            table.skip(f"read, {what}", "this machine has one core")
            continue
        names = ("round trip", "C floor", "C floor, descriptor kept", "read",
                 "of it the program's own dictionary")
        for number, name in enumerate(names):
            records = [each[number] for each in rounds[cores]]
            spread = ", ".join(f"p{part} {median(each[f'p{part}_us'] for each in records):.1f}"
                               for part in (10, 90))
            table.add(f"{name}, {what}, p50", median(each["p50_us"] for each in records), "µs",
                      note=spread)
        trips = [each[3]["p50_us"] / each[0]["p50_us"] for each in rounds[cores]]
        floors = [each[3]["p50_us"] / each[1]["p50_us"] for each in rounds[cores]]
        table.add(f"read, {what}: × the C floor", median(floors), "×",
                  most=2.5 if cores == 1 else None)
        table.add(f"read, {what}: × a round trip", median(trips), "×",
                  most=3 if cores == 2 else None)
    table.add("bare SQLite + libsodium, in one process, p50", anchors.bare_read()["p50_us"], "µs")


def at_once(table, house):
    table.heading("Reads a second, programs at once")
    crowd = programs.crowd(house["crowd"], 32)
    best = {}
    for _ in range(2):
        for many in (1, 2, 4, 8, 16, 32):
            rate = crowd.order(f"reads 1 {SMALL} {many}")["a_second"]
            best[many] = max(best.get(many, 0), rate)
    top = max(best.values())
    for many, rate in best.items():
        table.add(f"{many} program{'s' * (many > 1)}", rate, "/s",
                  least=15_000 if many == 16 else None, note=f"{rate / top:.2f} of the best")
    table.add("the least of them, of the best", min(best.values()) / top, "", least=0.8)
    # One program alone waits for its answers, and so leaves a second core idle.
    kept = min(rate / max(best[fewer] for fewer in best if fewer <= many)
               for many, rate in best.items())
    table.add("the most that is lost to fewer programs at once", kept, "", least=0.8,
              note="of what fewer reach")
    floors = {many: max(anchors.floors_at_once(many) for _ in range(2)) for many in (1, 2, 16)}
    for many, rate in floors.items():
        table.add(f"C floor, {many} pair{'s' * (many > 1)}", rate, "/s",
                  note=f"ours {best[many] / rate:.2f} of it")
    try:
        words = ["all=call", counting.call("futex"), "switches=switch"]
        counted = [counting.Counted(process, words) for process in house.serving("crowd")]
        for each in counted:
            each.since()
        count = crowd.order(f"reads 1 {SMALL} 16")["count"]
        told = [each.since() for each in counted]
        for each in counted:
            each.end()
        table.add("futex calls a read, 16 programs", sum(each["futex"] for each in told) / count,
                  "", most=1)
        table.add("thread switches a read, 16 programs",
                  sum(each["switches"] for each in told) / count)
    except counting.Forbidden as forbidden:
        table.skip("futex calls a read, 16 programs", str(forbidden))
    finally:
        crowd.end()


def without_profile(table, house):
    """The worker is installed as scripts/build makes it; these programs are not made so."""
    table.heading("Reads by programs that are built without the profile")
    with programs.orders(house["plain"], PLAIN) as program:
        program.order(f"read 500 {SMALL}")
        programs.pin([program.ready["process"], *house.serving("plain")], {0})
        rounds = [(anchors.floor(1), program.order(f"read 1500 {SMALL}")) for _ in range(ROUNDS)]
        programs.pin(house.serving("plain"), BOTH)
    table.add("read, one core: × the C floor",
              median(own["p50_us"] / floor["p50_us"] for floor, own in rounds), "×", most=2.5)
    crowd = programs.crowd(house["plain"], 16, PLAIN)
    table.add("16 programs", max(crowd.order(f"reads 1 {SMALL} 16")["a_second"] for _ in range(2)),
              "/s", least=15_000)
    crowd.end()


def other_user(table, house):
    table.heading("Another user, while one user's 32 connections read without pause")
    beside = programs.orders(house["beside"])
    beside.order(f"read 500 {SMALL}")
    quiet, busy = [], []
    crowd = programs.crowd(house["crowd"], 32)
    for _ in range(2):
        quiet.append(beside.order(f"read 1500 {SMALL}"))
        crowd.terminal.sendline(f"reads 2 {SMALL} 32")
        time.sleep(0.3)
        now = time.monotonic_ns()
        busy.append(beside.order(f"reads {SMALL} {now} {now + 1_400_000_000}"))
        crowd.heard()
    crowd.end()
    beside.end()
    floors = [(anchors.floor_beside(0), anchors.floor_beside(32)) for _ in range(2)]
    for what, records in ("quiet", quiet), ("busy", busy):
        table.add(f"read p99, {what}", median(each["p99_us"] for each in records), "µs",
                  note=f"p50 {median(each['p50_us'] for each in records):.0f}")
    table.add("read p99, busy × quiet",
              median(each["p99_us"] for each in busy) / median(each["p99_us"] for each in quiet),
              "×", most=3)
    table.add("C floor of one pair beside 32 others, p99, busy × quiet",
              median(busy for _, busy in floors) / median(quiet for quiet, _ in floors), "×",
              note=f"quiet {median(quiet for quiet, _ in floors):.0f} µs")


def firsts(table, house):
    table.heading("First reads, from the call to the answer")
    connections = []
    for _ in range(10):
        program = programs.orders(house["small"])
        connections.append(program.order("first")["p50_us"])
        program.end()
    table.add("on a new connection, by a new program", median(connections), "µs")
    starts, again = [], []
    for _ in range(5):
        house.daemon.restart()
        program = programs.orders(house["small"])
        starts.append(program.order("first")["p50_us"])
        again.append(program.order("first")["p50_us"])
        program.end()
    table.add("after a start of the daemon, with the start of the user's worker", median(starts), "µs",
              most=60_000, note=f"the second {median(again):.0f}")


def unlocks(table, house):
    table.heading("Unlock")
    program = programs.orders(house["small"])
    beside = programs.orders(house["beside"])
    beside.order(f"read 500 {SMALL}")
    quiet = beside.order(f"read 1000 {SMALL}")
    right, wrong, first, busy = [], [], [], []
    for _ in range(6):
        program.order(f"read 100 {SMALL}")
        program.order("lock")
        wrong.append(program.order("unlock no-horse")["p50_us"] / 1e3)
        right.append(program.order(f"unlock {PASSWORD}")["p50_us"] / 1e3)
        first.append(program.order("first")["p50_us"])
        program.order("lock")
        now = time.monotonic_ns()
        beside.terminal.sendline(f"reads {SMALL} {now} {now + 400_000_000}")
        program.order(f"unlock {PASSWORD}")
        busy.append(beside.heard())
    program.end()
    beside.end()
    table.add("with the right password, p50", median(right), "ms")
    table.add("with a wrong one: Argon2id, and nothing after it", median(wrong), "ms")
    # What is added to the derivation is told by the quickest: the rest is the machine's.
    table.add("what the right one takes longer", min(right) - min(wrong), "ms", most=5)
    table.add("first read after it", median(first), "µs")
    table.add("another user's read p99 meanwhile, × quiet",
              median(each["p99_us"] for each in busy) / quiet["p99_us"], "×",
              note=f"{median(each['p99_us'] for each in busy):.0f} µs, at most "
                   f"{max(each['most_us'] for each in busy):.0f} µs")


def beside_troubles(table, house):
    """What one user can have the service do that takes long. keychain-import has the file's bytes, and
    Argon2id a core for each of two users."""
    table.heading("Another user's reads, beside what one user has the service do")
    shell = house["large"]
    assert shell.run("keychainctl backup own.backup", [PASSWORD]).status == 0
    home = pathlib.Path(world.pwd.getpwnam("kc-large").pw_dir)
    (home / "hostile.backup").write_bytes(spoiled((home / "own.backup").read_bytes()))
    deriving = programs.orders(house["small"])
    beside = programs.orders(house["beside"])
    beside.order(f"read 500 {SMALL}")

    def derive():
        deriving.order("lock")
        deriving.order(f"unlock {PASSWORD}")

    def restore():
        told = shell.run("keychainctl restore hostile.backup", [PASSWORD])
        # From then on only the starting of programs would be measured.
        if "too many tries" in told.text:
            time.sleep(0.1)
            return False
        assert "the file of the keychain" in told.text, told
        return True

    def crash():
        house.daemon.kill_worker("kc-large")
        shell.run("keychainctl status")

    def unlock():
        shell.run("keychainctl lock")
        shell.run("keychainctl unlock", [PASSWORD])

    fill_keys = "for n in $(seq 200); do keyctl add user fill:$n x @u; done 2>/dev/null"
    free_keys = "for n in $(keyctl rlist @u); do" \
                " case $(keyctl rdescribe $n) in *fill:*) keyctl unlink $n @u;; esac; done"

    def keys_of_large(command):
        owner = house.file("large").parent.stat().st_uid
        world.as_number(owner, "sh", "-c", command)

    for what, trouble in (("keys derived one after the other", derive),
                          ("a damaged file restored again and again", restore),
                          ("crashes of the user's worker", crash),
                          ("unlocks that find the user's quota of keys full", unlock)):
        if trouble == unlock:
            keys_of_large(fill_keys)
        rounds = []
        for _ in range(3):
            if trouble == restore:
                # With its worker the user's tries are forgotten.
                house.daemon.kill_worker("kc-large")
            rounds.append(beside_trouble(beside, trouble))
        ratios = sorted(ratio for ratio, _, _ in rounds)
        table.add(f"read p99 beside {what}, × quiet", median(ratios), "×", most=3,
                  note=f"{ratios[0]:.2f} to {ratios[-1]:.2f}; "
                       f"{median(each for _, each, _ in rounds):.0f} µs; "
                       f"{sum(count for _, _, count in rounds)} times meanwhile")
    keys_of_large(free_keys)
    deriving.end()
    beside.end()


def spoiled(backup):
    """A page of the copy is zeros, and the digest is that of the copy as it is now: the program would
    not send it otherwise (docs/format.md)."""
    def digest(message):
        return hashlib.blake2b(message, digest_size=32).digest()

    copy = bytearray(backup[HEAD:])
    middle = len(copy) // 2
    copy[middle:middle + 4096] = bytes(4096)
    pieces = [digest(copy[at:at + PIECE]) for at in range(0, len(copy) + 1, PIECE)]
    whole = digest(len(copy).to_bytes(8, "little") + b"".join(pieces))
    return backup[:24] + whole + backup[56:HEAD] + copy


def beside_trouble(beside, trouble):
    """The p99 of reads for two seconds, of what it is when all is quiet, and in µs; how often the
    trouble was made meanwhile: not where it returns False, as what the service refuses to do."""
    quiet = beside.order(f"read 1500 {SMALL}")
    over = threading.Event()
    times = []

    def go_on():
        while not over.is_set():
            if trouble() is not False:
                times.append(trouble)

    thread = threading.Thread(target=go_on)
    thread.start()
    now = time.monotonic_ns()
    busy = beside.order(f"reads {SMALL} {now + 200_000_000} {now + 2_200_000_000}")
    over.set()
    thread.join()
    return busy["p99_us"] / quiet["p99_us"], busy["p99_us"], len(times)


def adds(table, house):
    table.heading("Durable adds, on the same disk in turn")
    program = programs.orders(house["small"])
    program.order("add 20")
    commits, rows, floors, added = [], [], [], []
    for _ in range(4):
        commits.append(anchors.synced_commit(house.disk, 60)["p50_us"])
        rows.append(anchors.synced_rows(house.disk, 60)["p50_us"])
        floors.append(anchors.adds_at_once(1, house.disk, 0.3)["p50_us"])
        added.append(program.order("add 60")["p50_us"])
    table.add("one synced SQLite commit of the same bytes, p50", median(commits), "µs")
    table.add("the same rows in a keychain's tables, in C: × the commit",
              median(r / c for r, c in zip(rows, commits)), "×")
    table.add("C floor of an add: × the commit",
              median(f / c for f, c in zip(floors, commits)), "×")
    table.add("add, p50", median(added), "µs")
    table.add("add: × the commit", median(a / c for a, c in zip(added, commits)), "×", most=1.5)
    program.end()
    frames(table, house)
    crowd = programs.crowd(house["crowd"], 16)
    one, many = (max(crowd.order(f"adds 1.5 {count}")["a_second"] for _ in range(2))
                 for count in (1, 16))
    crowd.end()
    floor_one, floor_many = (
        max(anchors.adds_at_once(count, house.disk)["a_second"] for _ in range(2))
        for count in (1, 16))
    table.add("adds a second, one program", one, "/s", note=f"C floor {floor_one:,.0f}")
    table.add("adds a second, 16 programs", many, "/s", note=f"C floor {floor_many:,.0f}")
    table.add("adds, 16 programs × one", many / one, "×", least=4,
              note=f"C floor {floor_many / floor_one:.2f}")


def frames(table, house, count=30):
    """The log is emptied now, and again after some 480 pages only."""
    database = sqlite3.connect(house.file("small"))
    database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    database.close()
    with programs.orders(house["small"]) as program:
        program.order(f"add {count}")
    # A tenth as many come before those that are measured.
    log = house.file("small").with_name("login.keychain-wal").read_bytes()
    table.add("pages written to the log an add", frames_in(log) / (count * 1.1))


def frames_in(log, page=4096):
    """A frame is a page and its head, which has the log's own salts: behind the last of them there
    are zeros, or older ones."""
    salts = log[16:24]
    heads = range(32, len(log), 24 + page)
    return next((i for i, at in enumerate(heads) if log[at + 8:at + 16] != salts), len(heads))


def evidence(table, house):
    """Reads for which a proof is kept, beside reads for which none is needed."""
    table.heading("Reads under evidence and rules")
    done = house["beside"].run("keychain-bench context", [PASSWORD], seconds=120)
    assert done.status == 0, done
    plain, proven = (json.loads(line)["p50_us"] for line in done.text.splitlines()
                     if line.startswith("{"))
    table.add("read with kept evidence, × without", proven / plain, "×", most=1.3)


def rules(table, house):
    """In several files, since one may have a mebibyte."""
    text = "policy: v1\nname: bench\nrules:\n"
    files = {}
    for number in range(RULES):
        path = POLICIES / f"50-bench-{number * 4 // RULES}.yaml"
        files[path] = files.get(path, text) + (
            f"  - id: bench.rule-{number}\n    forbid: Not for this program.\n"
            f"    operations: read-secret\n    subject: {{exe: /usr/bin/program-{number}}}\n"
            f"    resource: {{service: service-{number % 997}}}\n")
    POLICIES.mkdir(parents=True, exist_ok=True)
    ratios = []
    with programs.orders(house["small"]) as program:
        program.order(f"read 500 {SMALL}")
        # On one core, as in `sizes`.
        programs.pin([program.ready["process"], *house.serving("small")], {0})
        for _ in range(2):
            plain = program.order(f"read 2000 {SMALL}")["p50_us"]
            for path, rules in files.items():
                path.write_text(rules)
            world.wait_for(lambda: in_force(house) >= RULES, "the rules", 90)
            ruled = program.order(f"read 2000 {SMALL}")["p50_us"]
            for path in files:
                path.unlink()
            world.wait_for(lambda: in_force(house) < RULES / 4, "the baseline alone", 90)
            ratios.append(ruled / plain)
        programs.pin(house.serving("small"), BOTH)
    table.add(f"read under {RULES:,} rules more, × under the baseline", median(ratios), "×",
              most=1.15)


def in_force(house):
    found = re.findall(r"policies: (\d+) rules in force", house.daemon.log())
    return int(found[-1]) if found else 0


def whole_process(table, house):
    table.heading("A whole process")
    shell = house["small"]
    words = "generic-password --service tool --account tool"
    assert shell.run(f"printf s3cret | keychainctl add {words}").status == 0
    done = shell.run(f"spawned 30 -- hello -- swift-hello -- keychainctl get {words} "
                     f"-- keychainctl --help", seconds=60)
    told = [json.loads(line) for line in done.text.splitlines() if line.startswith("{")]
    assert done.status == 0 and len(told) == 4, done
    for record, (name, most) in zip(told, (("hello, C", None), ("hello, Swift", None),
                                          ("keychainctl get", 7), ("keychainctl --help", None))):
        program = world.PREFIX / "bin" / record["name"]
        table.add(f"{name}, p50", record["p50_us"] / 1e3, "ms", most=most,
                  note=f"{programs.relocations(program):,} relocations, "
                       f"{record['faults']:,} faults, {program.stat().st_size / 1e6:.1f} MB")


def locks(table, house):
    """From the request to lock to the last read that any of sixteen programs still had."""
    table.heading("Lock, while sixteen programs read")
    rounds = []
    for _ in range(3):
        done = house["small"].run("keychain-bench lock 16", seconds=60)
        assert done.status == 0, done
        rounds += [json.loads(line) for line in done.text.splitlines()
                   if line.startswith("{")]
        assert house["small"].run("keychainctl unlock", [PASSWORD], seconds=60).status == 0
    for name, what in ("answered_ms", "answered"), ("last_read_ms", "the last read of the 16"):
        times = [each[name] for each in rounds]
        table.add(what, median(times), "ms", note=f"at most {max(times):.1f}")


def sizes(table, house):
    table.heading(f"{house.size:,} items beside {SMALL}, on disk, in turns")
    house.grow()
    large, small = programs.orders(house["large"]), programs.orders(house["small"])
    large.order(f"read 2000 {REAL}")
    small.order(f"read 500 {SMALL}")
    looks, adds = [], []
    # On one core: across two, a read takes one time or nearly twice that, by the kernel's choice.
    served = (*house.serving("large"), *house.serving("small"))
    programs.pin([large.ready["process"], small.ready["process"], *served], {0})
    for _ in range(4):
        looks.append((large.order(f"read 1500 {REAL}")["p50_us"],
                      small.order(f"read 1500 {SMALL}")["p50_us"]))
    programs.pin([large.ready["process"], small.ready["process"], *served], BOTH)
    for _ in range(4):
        adds.append((large.order("add 40")["p50_us"], small.order("add 40")["p50_us"]))
    # Goals for a million items; that of fewer must keep them all the more.
    table.add(f"read among {house.size:,}, × among {SMALL}", median(a / b for a, b in looks), "×",
              most=1.3, note=f"{median(a for a, _ in looks):.0f} µs")
    table.add(f"add among {house.size:,}, × among {SMALL}", median(a / b for a, b in adds), "×",
              note=f"{median(a for a, _ in adds):.0f} µs")
    table.add("the file", house.file("large").stat().st_size / 1e6, "MB")
    large.end()
    small.end()
    table.add("memory at rest of keychaind and root's worker, their own", house.at_rest, "MB",
              most=20)
    serving = house.serving("large")
    table.add(f"memory of keychaind and a user's worker with {house.size:,} items open",
              programs.memory(serving), "MB", most=48,
              note=f"{programs.memory(serving[1:]):.1f} the worker's; both "
                   f"{programs.memory(serving, 'Rss'):.1f} resident with what they share counted "
                   f"twice, {programs.memory(serving, 'Pss_Anon'):.1f} anonymous")


def over_the_bus(table, house):
    secret_service.measure(table, house, PASSWORD)


def counters(table, house):
    path = str(anchors.FOLDER / "counters")
    loader = importlib.machinery.SourceFileLoader("keychain_counters", path)
    module = importlib.util.module_from_spec(
        importlib.util.spec_from_loader("keychain_counters", loader))
    loader.exec_module(module)
    told = json.loads(module.FILE.read_text())
    module.tools()
    house.daemon.stop()
    house.daemon.start(environment=module.SAME_ORDER)
    counts = module.measure(house.daemon, house["beside"], "kc-beside", told["functions"])
    house.daemon.restart()
    held = told["counts"].get(os.uname().machine, {})
    worse = {line.split(":")[0] for line in module.grown(counts, held)}
    goals = {"system calls": 14, "mallocs": 40, "retains": 250, "SecretBytes": 15,
             "SQLite prepares": 0}
    table.heading("Counts a read, which no load disturbs (counters.json)")
    for name, count in counts.items():
        table.add(name, count, "", most=goals.get(name),
                  note=f"held {held.get(name, '–')}" + (", GROWN" if name in worse else ""))
    table.add("counts that have grown by more than 3 %", len(worse), most=0)
