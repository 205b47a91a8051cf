# SPDX-License-Identifier: Apache-2.0
"""What each unit takes from its process and how it bounds it, line for line: none of it goes without a
change here, too."""

import os
import pathlib
import re

import pytest

import world

UNITS = world.TOP / "packaging"
# What a process is and when it runs, and nothing of its rights or limits.
ORDINARY = """After Also BusName Description Documentation ExecStart FileDescriptorName PartOf Requires Service
Slice Type WantedBy Wants""".split()

TAKEN = {
    "systemd/keychain-audit.service": """
StartLimitIntervalSec=0
User=_keychain-audit
Group=_keychain-audit
Restart=on-failure
RestartSec=1
TimeoutStopSec=10
StateDirectory=keychain/audit
StateDirectoryMode=0700
LimitCORE=0
LimitNOFILE=2048
UMask=0077
KeyringMode=private
AmbientCapabilities=CAP_SYS_PTRACE
CapabilityBoundingSet=CAP_SYS_PTRACE
NoNewPrivileges=yes
ProtectSystem=strict
ProtectHome=yes
ProtectKernelTunables=yes
ProtectKernelModules=yes
ProtectKernelLogs=yes
ProtectControlGroups=yes
ProtectClock=yes
ProtectHostname=yes
ProtectProc=invisible
ProcSubset=pid
PrivateDevices=yes
PrivateNetwork=yes
PrivateTmp=yes
DevicePolicy=closed
RestrictAddressFamilies=none
IPAddressDeny=any
LockPersonality=yes
MemoryDenyWriteExecute=yes
RestrictNamespaces=yes
RestrictRealtime=yes
RestrictSUIDSGID=yes
RemoveIPC=yes
SystemCallArchitectures=native
SystemCallFilter=@system-service
SystemCallFilter=~@privileged @resources
SystemCallFilter=capset setrlimit prlimit64 seccomp
SystemCallFilter=landlock_create_ruleset landlock_add_rule landlock_restrict_self
MemoryMax=128M
TasksMax=8
""",
    "systemd/keychain-audit.socket": """
ListenSequentialPacket=/run/keychain/audit.sock
SocketMode=0600
DirectoryMode=0755
Backlog=16
""",
    "systemd/keychain-starter.service": """
StartLimitIntervalSec=0
Restart=on-failure
RestartSec=1
TimeoutStopSec=10
LimitCORE=0
LimitMEMLOCK=8M
UMask=0077
KeyringMode=private
ProtectSystem=yes
ProtectKernelTunables=yes
ProtectKernelModules=yes
ProtectKernelLogs=yes
ProtectControlGroups=yes
ProtectClock=yes
ProtectHostname=yes
ProtectProc=invisible
PrivateMounts=yes
DevicePolicy=closed
DeviceAllow=char-* rw
RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6 AF_NETLINK
LockPersonality=yes
RestrictNamespaces=yes
RestrictRealtime=yes
RestrictSUIDSGID=yes
SystemCallArchitectures=native
CapabilityBoundingSet=~CAP_SYS_MODULE CAP_SYS_BOOT CAP_SYS_RAWIO CAP_SYS_TIME CAP_MKNOD
CapabilityBoundingSet=~CAP_LINUX_IMMUTABLE CAP_MAC_ADMIN CAP_MAC_OVERRIDE CAP_BPF CAP_PERFMON
CapabilityBoundingSet=~CAP_SYS_PACCT CAP_SYSLOG CAP_WAKE_ALARM CAP_BLOCK_SUSPEND CAP_LEASE
CapabilityBoundingSet=~CAP_SYS_CHROOT CAP_SYS_TTY_CONFIG CAP_IPC_OWNER CAP_AUDIT_READ CAP_CHECKPOINT_RESTORE
CapabilityBoundingSet=~CAP_NET_ADMIN CAP_NET_RAW CAP_NET_BROADCAST CAP_SYS_ADMIN
SystemCallFilter=~@clock @cpu-emulation @debug @module @mount @obsolete @raw-io @reboot @swap
SystemCallErrorNumber=EPERM
MemoryMax=1G
TasksMax=2048
OOMPolicy=continue
""",
    "systemd/keychain-starter.socket": """
ListenSequentialPacket=/run/keychain/starter.sock
SocketMode=0600
DirectoryMode=0755
Backlog=256
""",
    "systemd/keychain-broker.service": """
StartLimitIntervalSec=0
Restart=on-failure
RestartSec=1
TimeoutStopSec=10
Environment=SWIFT_BACKTRACE=enable=no
LimitCORE=0
LimitNOFILE=16384
UMask=0077
KeyringMode=private
NoNewPrivileges=yes
LockPersonality=yes
MemoryDenyWriteExecute=yes
RestrictNamespaces=yes
RestrictRealtime=yes
RestrictSUIDSGID=yes
RestrictAddressFamilies=AF_UNIX
IPAddressDeny=any
ProtectClock=yes
DevicePolicy=closed
CapabilityBoundingSet=CAP_SYS_PTRACE CAP_DAC_READ_SEARCH
SystemCallArchitectures=native
SystemCallFilter=@system-service
SystemCallFilter=~@privileged @resources @keyring @setuid @chown
SystemCallFilter=pidfd_getfd capset seccomp
SystemCallErrorNumber=EPERM
MemoryMax=256M
TasksMax=1200
""",
    "systemd/keychain-broker.socket": """
ListenSequentialPacket=/run/keychain/broker.sock
SocketMode=0600
DirectoryMode=0755
Backlog=256
""",
    "systemd/keychain-worker.socket": """
ListenSequentialPacket=/run/keychain/worker.sock
Accept=yes
SocketMode=0600
DirectoryMode=0755
Backlog=256
MaxConnections=1024
TriggerLimitIntervalSec=0
""",
    "systemd/keychain-worker@.service": """
CollectMode=inactive-or-failed
TimeoutStopSec=75
KillMode=mixed
Environment=SWIFT_BACKTRACE=enable=no
LimitCORE=0
LimitMEMLOCK=1G
LimitNOFILE=4096
LimitNICE=-4
UMask=0077
KeyringMode=private
ProtectSystem=strict
ReadWritePaths=/var/lib/keychain /run/keychain/users
ProtectHome=yes
ProtectKernelTunables=yes
ProtectKernelModules=yes
ProtectKernelLogs=yes
ProtectControlGroups=yes
ProtectHostname=yes
PrivateDevices=yes
PrivateMounts=yes
PrivateNetwork=yes
PrivateTmp=yes
InaccessiblePaths=-/run/systemd/private -/run/dbus -/var/lib/fprint
LockPersonality=yes
MemoryDenyWriteExecute=yes
RestrictNamespaces=yes
RestrictRealtime=yes
RestrictSUIDSGID=yes
RestrictAddressFamilies=AF_UNIX
IPAddressDeny=any
ProtectClock=yes
DevicePolicy=closed
CapabilityBoundingSet=CAP_SYS_PTRACE CAP_SETUID CAP_SETGID
SystemCallArchitectures=native
SystemCallFilter=@system-service
SystemCallFilter=~@privileged @resources
SystemCallFilter=@setuid
SystemCallFilter=setpriority
SystemCallFilter=sched_setaffinity
SystemCallFilter=capset
SystemCallErrorNumber=EPERM
MemoryMax=256M
TasksMax=128
CPUWeight=100
""",
    "systemd/keychaind-login.socket": """
ListenStream=/run/keychain/login.sock
SocketMode=0600
DirectoryMode=0755
Backlog=256
""",
    "systemd/keychaind-offer.socket": """
ListenStream=/run/keychain/offer.sock
SocketMode=0666
DirectoryMode=0755
Backlog=256
""",
    "systemd/keychaind.service": """
StartLimitIntervalSec=0
Restart=on-failure
RestartSec=1
TimeoutStopSec=75
Environment=SWIFT_BACKTRACE=enable=no
LimitCORE=0
LimitMEMLOCK=64M
LimitNOFILE=16384
LimitNICE=-4
UMask=0077
FileDescriptorStoreMax=1024
RuntimeDirectory=keychain
RuntimeDirectoryMode=0755
RuntimeDirectoryPreserve=yes
StateDirectory=keychain
StateDirectoryMode=0711
KeyringMode=private
ProtectSystem=strict
ProtectHome=yes
ProtectKernelTunables=yes
ProtectKernelModules=yes
ProtectKernelLogs=yes
ProtectControlGroups=yes
ProtectHostname=yes
PrivateDevices=yes
PrivateTmp=yes
InaccessiblePaths=-/run/systemd/private
LockPersonality=yes
MemoryDenyWriteExecute=yes
RestrictNamespaces=yes
RestrictRealtime=yes
RestrictSUIDSGID=yes
RestrictAddressFamilies=AF_UNIX
IPAddressDeny=any
ProtectClock=yes
DevicePolicy=closed
CapabilityBoundingSet=
SystemCallArchitectures=native
SystemCallFilter=@system-service
SystemCallFilter=~@privileged @resources
SystemCallFilter=setpriority
SystemCallFilter=sched_setaffinity
SystemCallFilter=capset
SystemCallErrorNumber=EPERM
MemoryMax=256M
TasksMax=2048
""",
    "systemd/keychaind.socket": """
ListenStream=/run/keychain/keychain.sock
SocketMode=0666
DirectoryMode=0755
Backlog=256
""",
    "systemd/system-keychain.slice": """
MemoryMax=50%
""",
    "systemd-user/keychain-prompter.service": """
StartLimitIntervalSec=120
StartLimitBurst=5
Restart=on-failure
RestartSec=10
""",
    "systemd-user/keychain-secrets.service": """
Restart=no
MemoryMax=384M
""",
}


def lines(unit):
    return re.findall(r"^\w+=.*", (UNITS / unit).read_text(), re.MULTILINE)


def test_every_unit_is_among_them():
    found = {f"{unit.parent.name}/{unit.name}" for unit in UNITS.glob("systemd*/*")}
    assert found == TAKEN.keys()


@pytest.mark.parametrize("unit", TAKEN)
def test_a_unit_takes_what_it_always_took(unit):
    assert [line for line in lines(unit) if line.split("=")[0] not in ORDINARY] == (
        TAKEN[unit].split("\n")[1:-1])


@pytest.mark.parametrize("unit", TAKEN)
def test_a_unit_is_understood_to_its_last_line(unit, tmp_path):
    """A setting with a slip in its name is one that systemd leaves out."""
    name = pathlib.Path(unit).name
    scope = "--user" if "user" in unit else "--system"
    told = world.run("systemd-analyze", "verify", scope, "--man=no", UNITS / unit, check=False,
                     env={**os.environ, "XDG_RUNTIME_DIR": str(tmp_path)})
    said = [line for line in (told.stdout + told.stderr).splitlines()
            if f"{name}:" in line and "is not executable" not in line]
    assert said == []


@pytest.mark.parametrize("unit,most", [
    ("keychaind.service", 19), ("keychain-worker@.service", 18), ("keychain-broker.service", 37),
    ("keychain-starter.service", 40), ("keychain-audit.service", 11)])
def test_a_unit_leaves_no_more_open_than_it_does_today(unit, most):
    """`security` counts what a unit leaves open, in tenths."""
    told = world.run("systemd-analyze", "security", "--offline=true", f"--threshold={most}",
                     world.PREFIX / "lib/systemd/system" / unit, check=False)
    assert told.returncode == 0, told.stdout


def test_the_broker_sees_the_paths_that_programs_see():
    """A mount namespace of its own would make a path mean something else to it."""
    assert not [line for line in lines("systemd/keychain-broker.service") if re.match(
        r"(Protect(System|Home|Kernel\w+|ControlGroups|Proc)|Private(?!Users)\w+|ProcSubset|Root\w+"
        r"|ReadOnly\w+|ReadWrite\w+|Inaccessible\w+|Temporary\w+|Bind\w+)=", line)]


@pytest.mark.parametrize("unit", ["keychaind.service", "keychain-worker@.service"])
def test_the_daemon_does_not_see_file_systems_as_a_user_s(unit):
    """As the unit had it, systemd would mount them all nosuid."""
    assert not [line for line in lines(f"systemd/{unit}") if line.startswith("NoNewPrivileges=")]


def rights_taken(unit):
    """What a unit says of its process's view of the machine and of its rights, but for those at its start:
    each value with the name that it belongs to."""
    found = [line.split("=", 1) for line in lines(f"systemd/{unit}") if re.match(
        r"(Protect|Private|Inaccessible|Restrict|Lock|Memory(?!Max)|IPAddress|Device|SystemCall|Keyring"
        r"|UMask|LimitCORE|Environment)", line)]
    return {(name, value) for name, values in found for value in values.split()}


def test_a_worker_has_no_right_that_keychaind_has_not():
    """But for the one by which it knows keychaind, and the two by which it takes its number: it gives them
    up before it takes a connection."""
    worker, keychaind = map(rights_taken, ("keychain-worker@.service", "keychaind.service"))
    assert worker > keychaind
    assert {right for right in worker - keychaind if right[0] == "SystemCallFilter"} == {
        ("SystemCallFilter", "@setuid")}
    bounds = [line for line in lines("systemd/keychain-worker@.service")
              if line.startswith(("CapabilityBoundingSet=", "AmbientCapabilities="))]
    assert bounds == ["CapabilityBoundingSet=CAP_SYS_PTRACE CAP_SETUID CAP_SETGID"]


def test_a_worker_ends_with_its_connection_and_not_with_its_socket():
    """An upgrade must be able to start the socket anew beside workers that serve."""
    assert not [line for line in lines("systemd/keychain-worker@.service")
                if re.match(r"(Requires|Requisite|BindsTo|PartOf|Restart)=", line)]


@pytest.mark.parametrize("unit", [unit for unit in TAKEN if unit.startswith("systemd-user/")])
def test_a_program_that_is_known_by_its_group_may_get_it(unit):
    assert not [line for line in lines(unit) if re.match(
        r"(NoNewPrivileges|SystemCall\w+|Restrict(?!Network)\w+|Lock\w+|Memory(?!Max)\w+|Private\w+"
        r"|Protect\w+|DynamicUser)=", line)]
