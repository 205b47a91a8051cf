// SPDX-License-Identifier: Apache-2.0
internal import Glibc
internal import KeychainLinuxSystem
internal import KeychainLocalSocket
internal import PAMSetup
internal import ProgramHandoff

/// What was installed, and what the kernel allows.
struct MachineExam {
    private static let runtimeFolder = "/run/keychain"

    private static let longestReply = 64
    private static let userMap = "/proc/self/uid_map"
    private static let longestMap = 4096
    private static let patience = 3.0

    var findings: [Finding] {
        [authenticator, found(.worker), found(.broker), starter, found(.audit), prompter] + services
            + [hiddenProcesses, workerNumbers, vaultKey, tracing, quota].compactMap { $0 }
            + [loginManager, trustedPlatform, labels]
    }

    private var authenticator: Finding {
        for program in ["keychain-auth", "keychain-starter"] {
            let path = InstalledProgram.sibling("../libexec/keychain/" + program) ?? program
            guard InstalledProgram.isTrusted(path) else {
                return Finding(
                    .machine, .trouble,
                    "\(path) is missing, or not root's alone: no user can be authenticated",
                    remedy: "Install the package again.")
            }
        }
        return Finding(.machine, .fine, "keychain-auth is installed")
    }

    private func found(_ program: ListeningProgram) -> Finding {
        let file = InstalledProgram.sibling("../libexec/keychain/" + program.name)
        return program.finding(program: file ?? program.name, folder: Self.runtimeFolder)
    }

    /// No worker has a right to see what /proc hides. One with a number of its own has not root's group.
    private var hiddenProcesses: Finding? {
        guard let hiding = HiddenProcesses.found, hiding.group != 0 || hasNumbers else {
            return nil
        }
        return Finding(
            .machine, .trouble,
            "/proc hides processes (\(hiding.option)): no program can be told from others",
            remedy: hiding.group.flatMap { $0 == 0 ? nil : $0 }.map {
                """
                systemctl edit keychaind.service keychain-worker@.service, with \
                SupplementaryGroups=\($0) in [Service].
                """
            } ?? "Mount /proc without it, or with hidepid=invisible and the gid= of a group.")
    }

    private var hasNumbers: Bool {
        AdoptedNumbers.exist(in: KernelFile.read(Self.userMap, limit: Self.longestMap) ?? [])
    }

    private var workerNumbers: Finding? {
        guard !hasNumbers else { return nil }
        let (first, last) = (AdoptedNumbers.range.lowerBound, AdoptedNumbers.range.upperBound)
        return Finding(
            .machine, .note,
            "keychain-worker has root's number for all users: the uids from \(first) to \(last)"
                + " are missing here (\(Self.userMap))",
            remedy: "Run the container with these uids and gids mapped.")
    }

    /// It hears keychaind, and tells all others of root's so; users see that its
    /// socket is there.
    private var starter: Finding {
        let path = Self.runtimeFolder + "/starter.sock"
        switch Self.lack(at: path) {
        case nil, .system(EACCES): break
        case .timedOut, .closed:
            return Finding(
                .machine, .trouble,
                "keychain-starter does not answer: no user can be asked, no policy is loaded, "
                    + "no further user is served",
                remedy: "systemctl restart keychain-starter.service; its log says why.")
        default:
            return Finding(
                .machine, .trouble,
                "keychain-starter does not listen on \(path): no user can be asked, no policy is "
                    + "loaded, no further user is served",
                remedy:
                    "systemctl start keychain-starter.socket; without systemd, start keychaind anew."
            )
        }
        return Finding(.machine, .fine, "keychain-starter starts what works for keychaind")
    }

    /// Why there is no reply.
    private static func lack(at path: String) -> SocketError? {
        do throws(SocketError) {
            let connection = try RecordConnection(path: path)
            _ = try connection.receive(limit: longestReply, deadlineSeconds: patience)
            return nil
        } catch { return error }
    }

    private var prompter: Finding {
        let path =
            InstalledProgram.sibling("../libexec/keychain/keychain-prompter") ?? "keychain-prompter"
        guard InstalledProgram.setgidGroup(path) != nil else {
            return Finding(
                .machine, .trouble,
                "\(path) is missing, or does not take the prompters' group: no user can be asked",
                remedy: "Install the package again; it makes the group _keychain-prompt.")
        }
        return Finding(.machine, .fine, "keychain-prompter is installed, with a group of its own")
    }

    /// The services that prove presence and passcode; the others are the administrator's choice.
    private var services: [Finding] {
        let stacks = PAMStacks()
        let names = Set(stacks.names)
        return [("keychain-presence", "presence"), ("keychain-passcode", "passcode")].map {
            service, proof in
            guard names.contains(service) else {
                return Finding(
                    .machine, .trouble,
                    "PAM has no service \(service): items that ask for \(proof) do not open",
                    remedy: "Install the package's pam.d/\(service) in /etc/pam.d.")
            }
            return Finding(.machine, .fine, "PAM's service \(service) proves \(proof)")
        }
    }

    private var loginManager: Finding {
        let lost = "screens that lock, sleep and hibernation close no keychain"
        let remedy = "Without it --lock-after-idle of keychainctl settings closes them."
        return switch LoginManagerPresence.now {
        case .present: Finding(.machine, .fine, "logind tells of locked screens and sleep")
        case .busAlone:
            Finding(.machine, .note, "logind is not on the system bus: \(lost)", remedy: remedy)
        case .noBus:
            Finding(
                .machine, .note, "there is no D-Bus system bus, and so no logind: \(lost)",
                remedy: remedy)
        }
    }

    private var trustedPlatform: Finding {
        if FileStatus("/etc/keychain/tpm.conf") != nil {
            return Finding(.machine, .fine, "/etc/keychain/tpm.conf says where the TPM is")
        }
        guard FileStatus("/dev/tpmrm0") != nil else {
            return Finding(.machine, .note, "there is no TPM (/dev/tpmrm0) to protect keychains")
        }
        return Finding(.machine, .fine, "a TPM can protect keychains")
    }

    private var labels: Finding {
        switch PinnedProcess(pid: getpid(), pidfd: nil)?.securityLabel() {
        case .appArmor: Finding(.machine, .fine, "AppArmor labels programs")
        case .selinux: Finding(.machine, .fine, "SELinux labels programs")
        default:
            Finding(
                .machine, .note,
                "neither AppArmor nor SELinux is in force: no rule on a label matches")
        }
    }

    /// Without systemd each user's key has a file.
    private var vaultKey: Finding? {
        guard geteuid() == 0 else { return nil }
        let folder = Self.runtimeFolder + "/private"
        let keys = FolderNames.all(in: folder).filter { $0.hasPrefix("vault-key-") }.sorted()
        guard !keys.isEmpty else {
            return Finding(
                .machine, .fine, "systemd keeps the keys of this boot while keychaind restarts")
        }
        for path in [folder] + keys.map({ folder + "/" + $0 }) {
            guard let status = FileStatus(path), status.owner == 0, status.mode & 0o077 == 0 else {
                return Finding(
                    .machine, .trouble,
                    "\(path), a key of this boot or such keys' folder, is not closed to others",
                    remedy: "chown root \(path) && chmod go= \(path)")
            }
        }
        return Finding(
            .machine, .note, "the keys of this boot lie in files of \(folder)",
            remedy: """
                systemd keeps them where it has started keychaind, with FileDescriptorStoreMax= in \
                the unit.
                """)
    }

    /// A proof on a terminal, and the name of a unit that runs as a person, reach as far as tracing.
    private var tracing: Finding {
        let path = "/proc/sys/kernel/yama/ptrace_scope"
        let scope =
            KernelFile.read(path, limit: 16).flatMap {
                Int(String(decoding: $0, as: UTF8.self).filter(\.isNumber))
            } ?? 0
        guard scope > 0 else {
            return Finding(
                .machine, .note,
                "programs of a user may trace one another: what one may read, others get through it",
                remedy: "kernel.yama.ptrace_scope = 1 in a file of /etc/sysctl.d.")
        }
        return Finding(.machine, .fine, "programs of a user may trace their own children only")
    }

    /// "UID: usage nkeys/nikeys qnkeys/maxkeys qnbytes/maxbytes"
    private var quota: Finding? {
        let path = "/proc/key-users"
        guard let bytes = KernelFile.read(path, limit: 256 * 1024) else {
            return Finding(.machine, .note, "\(path) can't be read: the keys' quota is not known")
        }
        let own = "\(getuid()):"
        let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n")
        let words = lines.lazy.map { $0.split(separator: " ") }.first { $0.first == own[...] }
        for (word, what) in zip((words ?? []).dropFirst(3), ["keys", "bytes of keys"]) {
            let numbers = word.split(separator: "/").compactMap { Int($0) }
            guard numbers.count == 2, numbers[0] * 10 >= numbers[1] * 9 else { continue }
            return Finding(
                .machine, .trouble, "you have \(numbers[0]) of \(numbers[1]) \(what) in the kernel",
                remedy: """
                    The next login may get no keyring of its own. keyctl show shows them; the \
                    limits are in /proc/sys/kernel/keys.
                    """)
        }
        return Finding(.machine, .fine, "the kernel has room for more keys of yours")
    }
}
