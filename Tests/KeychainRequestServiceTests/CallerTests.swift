// SPDX-License-Identifier: Apache-2.0
import KeychainModel
import KeychainLinuxSystem
import KeychainPolicyEngine
import KeychainPolicyModel
import Testing

@testable import CallerIdentity
@testable import KeychainUserPresence
@testable import KeychainVaults
@testable import LoginRegistry
@testable import SessionVault

@Suite struct SystemUnitTests {
    @Test(arguments: [
        ("0::/system.slice/nginx.service\n", "nginx.service"),
        (
            "12:pids:/x\n0::/system.slice/system-postgresql.slice/postgresql@15.service\n",
            "postgresql@15.service"
        ),
        ("0::/system.slice/NetworkManager.service/child\n", "NetworkManager.service"),
    ])
    func `a system service is known by its unit`(_ cgroup: String, _ unit: String) {
        #expect(SystemUnit.name(Array(cgroup.utf8)) == unit)
    }

    @Test(arguments: [
        "", "0::/\n", "0::/user.slice/user-1000.slice/session-3.scope\n",
        "0::/user.slice/user-1000.slice/user@1000.service/app.slice/nginx.service\n",
        "0::/system.slice/cron.service\n", "0::/system.slice/atd.service\n",
        "0::/system.slice/ssh.service\n",
        "0::/system.slice/system-getty.slice/getty@tty1.service\n",
        "1:name=systemd:/system.slice/nginx.service\n", "0::/system.slice\n",
        "0::/machine.slice/x.service\n",
        "0::/system.slice/dropbear.service\n", "0::/system.slice/xrdp-sesman.service/x\n",
        // What a container was given, and a user.
        "0::/system.slice/docker-1.scope/system.slice/nginx.service\n",
        "0::/system.slice/run-1.scope/nginx.service\n", "0::/system.slice/x/nginx.service\n",
    ])
    func `everything that starts other people's programs is no unit`(_ cgroup: String) {
        #expect(SystemUnit.name(Array(cgroup.utf8)) == nil)
    }
}

/// Below their service manager users make control groups of whatever name they like.
@Suite struct ForgedControlGroupTests {
    private static let users = "0::/user.slice/user-1000.slice/user@1000.service/"

    @Test(arguments: ["", "backup.slice/x.service", "app.slice/system.slice/x.service"])
    func `a slice is the system's`(_ rest: String) throws {
        let group = try #require(ControlGroup(Array((Self.users + rest + "\n").utf8)))
        #expect(group.slice == "user-1000.slice")
        #expect(group.unit == nil)
        let service = try #require(
            ControlGroup(Array("0::/system.slice/system-backup.slice/backup@1.service\n".utf8)))
        #expect(service.slice == "system-backup.slice")
    }

    @Test(arguments: ["cron.service", "app.slice/crond.service", "app.slice/atd.service/x"])
    func `a user's unit with a scheduler's name is not the scheduler`(_ rest: String) {
        #expect(kindOutsideLogins(Self.users + rest + "\n", isGuarded: true) == nil)
    }

    @Test func `what runs in no login is a service's, a scheduler's or neither's`() {
        for (group, kind) in [
            ("system.slice/cron.service", SessionKind.cron),
            ("system.slice/nginx.service", .service), ("", .other),
            ("system.slice/docker-1.scope/cron.service", .other),
        ] {
            #expect(kindOutsideLogins("0::/\(group)\n", isGuarded: true) == kind)
        }
        #expect(kindOutsideLogins("0::/system.slice/nginx.service\n", isGuarded: false) == nil)
    }

    @Test func `kinds of sessions are in the order of the words that policies have for them`() {
        #expect(
            SessionKind.allCases.map { "\($0)" }
                == ChoiceField.session.words.map { $0 == "remote-desktop" ? "remoteDesktop" : $0 })
    }

    // MARK: What a user's service manager started

    private func facts(_ logins: [LoginSession], locked: Set<String> = []) -> PolicyFacts {
        let screens = ScreenLocks()
        screens.know(locked)
        var facts = PolicyFacts()
        let attributes = SessionAttributes(nil, nil, screens)
        if let first = logins.first {
            attributes.add(.told, of: first, or: logins.dropFirst(), to: &facts)
        }
        return facts
    }

    private func login(
        _ service: String, isRemote: Bool = false, logind: String? = nil, start: UInt64 = 1
    ) -> LoginSession {
        var details = LoginSession.Details()
        details.isRemote = isRemote
        details.logindSession = logind
        return LoginSession(
            SessionID(rawValue: Int32(start)), user: 1000, account: "a",
            leader: (1, start), service: service, details)
    }

    @Test func `a login is of the kind that its service and its being remote tell`() {
        for (service, isRemote, kind) in [
            ("crond", false, SessionKind.cron), ("cron", true, .cron), ("atd", false, .cron),
            ("login", false, .seat), ("gdm-password", false, .seat), ("sshd", false, .seat),
            ("sshd", true, .ssh), ("xrdp-sesman", true, .remoteDesktop),
            ("vncserver", true, .remoteDesktop), ("gnome-remote-desktop", true, .remoteDesktop),
            ("rlogin", true, .other),
        ] {
            #expect(login(service, isRemote: isRemote).kind == kind, "\(service), \(isRemote)")
        }
    }

    @Test func `facts of logins are those in which all of a user's logins agree`() {
        let (seat, other) = (login("gdm-password"), login("login", start: 2))
        let ssh = login("sshd", isRemote: true, start: 3)
        for (logins, session, remote) in [
            ([seat], Fact.known(SessionKind.seat.rawValue), Fact.known(false)),
            ([seat, other], .known(SessionKind.seat.rawValue), .known(false)),
            ([ssh], .known(SessionKind.ssh.rawValue), .known(true)),
            ([seat, ssh], .unknown, .unknown), ([ssh, other], .unknown, .unknown),
            ([login("crond"), seat], .unknown, .known(false)),
        ] {
            let facts = facts(logins)
            #expect(facts[ChoiceField.session] == session && facts[.remote] == remote)
        }
    }

    @Test func `the age of a login is a program's where there is no other login`() {
        let (first, second) = (login("login"), login("login", start: 2))
        guard case .known = facts([first])[AgeField.session] else {
            Issue.record("the age of the only login is not known")
            return
        }
        #expect(facts([first, second])[AgeField.session] == .unknown)
    }

    @Test func `a screen is locked, or open, where those of all logins are that have one`() {
        let (first, second) = (login("a", logind: "1"), login("b", logind: "2"))
        let without = login("c")
        for (logins, locked, fact) in [
            ([first, second], [], Fact.known(false)),
            ([first, second], ["1", "2"], .known(true)), ([first, second], ["1"], .unknown),
            ([first, without], ["1"], .known(true)), ([first, without], [], .known(false)),
            ([without], ["1"], .absent),
        ] as [([LoginSession], Set<String>, Fact<Bool>)] {
            #expect(facts(logins, locked: locked)[.screenLocked] == fact)
        }
    }

    private func facts(
        _ program: LoginSession?, broughtFrom deputy: LoginSession?
    ) -> PolicyFacts {
        var attributes = SessionAttributes(program, nil, ScreenLocks())
        attributes.deputy = { SessionAttributes(deputy, nil, ScreenLocks()) }
        var facts = PolicyFacts()
        attributes.add(.told, to: &facts)
        return facts
    }

    @Test func `of a brought program those facts count in which its deputy's login agrees`() {
        let (seat, other) = (login("gdm-password"), login("login", start: 2))
        let ssh = login("sshd", isRemote: true, start: 3)
        for (program, deputy, session, remote) in [
            (seat, seat, Fact.known(SessionKind.seat.rawValue), Fact.known(false)),
            (seat, other, .known(SessionKind.seat.rawValue), .known(false)),
            (ssh, ssh, .known(SessionKind.ssh.rawValue), .known(true)),
            (seat, ssh, .unknown, .unknown), (seat, nil, .unknown, .unknown),
            (nil, seat, .unknown, .unknown),
        ] as [(LoginSession?, LoginSession?, Fact<UInt8>, Fact<Bool>)] {
            let facts = facts(program, broughtFrom: deputy)
            #expect(facts[ChoiceField.session] == session && facts[.remote] == remote)
        }
    }

    @Test func `the age of a brought program's login is known where it is its deputy's`() {
        let (first, second) = (login("login"), login("login", start: 2))
        guard case .known = facts(first, broughtFrom: first)[AgeField.session] else {
            Issue.record("the age of the only login is not known")
            return
        }
        #expect(facts(first, broughtFrom: second)[AgeField.session] == .unknown)
    }

    @Test func `an unlock from outside any login makes none of its program`() {
        let unlock = LoginSession(
            SessionID(rawValue: 0), user: 1000, account: "", leader: (1, 1), service: "")
        var facts = PolicyFacts()
        SessionAttributes(unlock, nil, ScreenLocks()).add(.told, to: &facts)
        #expect(facts[ChoiceField.session] == .unknown && facts[.remote] == .unknown)
    }

    private func kindOutsideLogins(_ group: String, isGuarded: Bool) -> SessionKind? {
        SessionAttributes.kind(outsideLogins: Array(group.utf8)) { _ in isGuarded }
    }
}

@Suite struct ServiceManagerTests {
    @Test(arguments: [
        "0::/user.slice/user-1000.slice/user@1000.service/app.slice/nginx.service\n",
        "1:name=systemd:/\n0::/user.slice/user-1000.slice/user@1000.service\n",
    ])
    func `what a user's service manager started is that user's, in no login`(_ cgroup: String) {
        #expect(ServiceManager.ran(Array(cgroup.utf8), for: 1000))
        #expect(!ServiceManager.ran(Array(cgroup.utf8), for: 100))
    }

    @Test(arguments: [
        "", "0::/\n", "0::/user.slice/user-1000.slice/session-3.scope\n",
        "0::/user.slice/user-1001.slice/user@1000.service/x\n",
        "0::/user.slice/user-1000.slice/user@1000.services/x\n",
        "0::/system.slice/user.slice/user-1000.slice/user@1000.service/x\n",
        "1:name=systemd:/user.slice/user-1000.slice/user@1000.service/x\n",
    ])
    func `a login, a service and a look-alike are no service manager`(_ cgroup: String) {
        #expect(!ServiceManager.ran(Array(cgroup.utf8), for: 1000))
    }

    @Test func `the manager is the system manager's child in a control group of its own`() {
        let place = "0::/user.slice/user-1000.slice/user@1000.service/"
        func isManager(_ group: String, _ parent: Int32 = 1) -> Bool {
            ServiceManager.isManager(Array((group + "\n").utf8), childOf: parent, for: 1000)
        }
        #expect(isManager(place + "init.scope"))
        // A program of the user's that moved there.
        #expect(!isManager(place + "init.scope", 1234))
        #expect(!isManager(place + "session.slice/keychain-prompter.service"))
        #expect(!isManager(place + "init.scope/x"))
        #expect(!isManager("0::/user.slice/user-1001.slice/user@1001.service/init.scope"))
        #expect(!isManager("0::/init.scope"))
    }
}

@Suite struct SecurityLabelTests {
    @Test(arguments: [
        "unconfined_u:unconfined_r:unconfined_t:s0", "system_u:system_r:unconfined_service_t:s0",
        "user_u:user_r:user_t:s0", "staff_u:staff_r:staff_t:s0-s0:c0.c1023",
        "sysadm_u:sysadm_r:sysadm_t:s0", "user_u:user_r:mozilla_t:s0",
        "system_u:object_r:system_r:s0", "shop_u:shop_r:shop_t:s0", "unconfined", "",
    ])
    func `a login's domain is no program's name`(_ label: String) {
        #expect(SecurityLabel.selinux(label).serviceDomain == nil)
    }

    @Test func `a service's domain of SELinux names a program, an AppArmor profile does not`() {
        let label = "system_u:system_r:httpd_t:s0"
        #expect(SecurityLabel.selinux(label).serviceDomain == "selinux:" + label)
        for other in [label, ":n:system_r:x:y (enforce)", "/usr/sbin/cupsd (enforce)"] {
            #expect(SecurityLabel.appArmor(other).serviceDomain == nil)
        }
        #expect(SecurityLabel.none.serviceDomain == nil)
        #expect(SecurityLabel.unreadable.serviceDomain == nil)
    }

    @Test(arguments: [
        (SecurityLabel.none, Fact<[PolicyText]>.absent),
        (.unreadable, .unknown),
        (.selinux("user_u:user_r:mozilla_t:s0"), .known(["selinux:user_u:user_r:mozilla_t:s0"])),
        (.selinux("unconfined_u:unconfined_r:unconfined_t:s0"), .absent),
        (.selinux("of another module"), .unknown),
        (.appArmor("unconfined"), .absent),
        (.appArmor("/usr/sbin/cupsd (enforce)"), .known(["apparmor:/usr/sbin/cupsd"])),
        (.appArmor("ntpd (kill)"), .known(["apparmor:ntpd"])),
        (.appArmor("a (1)//hat (enforce)"), .known(["apparmor:a (1)//hat"])),
        (
            .appArmor("a//&b//hat (enforce)"),
            .known(["apparmor:a//&b//hat", "apparmor:a", "apparmor:b//hat"])
        ),
    ])
    func `policies know domains, and profiles that are enforced`(
        _ label: SecurityLabel, _ fact: Fact<[PolicyText]>
    ) {
        #expect(label.fact == fact)
    }

    /// Else a forbidden program would go on with its profile in another mode, and one that is
    /// permitted only where it is confined, without.
    @Test(arguments: [
        "cupsd (complain)", "a//&b (mixed)", "chrome (unconfined)", "chrome", "x (prompt)",
        "x (enforce) ",
    ])
    func `a profile that confines nothing is no known label, and not none either`(
        _ label: String
    ) {
        #expect(SecurityLabel.appArmor(label).fact == .unknown)
    }

    @Test(arguments: [
        "/snap/firefox/1/usr/lib/firefox/firefox", "/home/a/snap/firefox/1/firefox",
        "/usr/bin/env", "/snap",
    ])
    func `a program that chose a snap's profile is not the snap`(_ path: String) {
        // Not root's file there, or one elsewhere: what a program that is not the snap shows.
        var program = ProgramLook(nil)
        program.path = path
        program.executable = ExecutableFacts(path: path, device: 1, inode: 1)
        #expect(SecurityLabel.appArmor("snap.firefox.firefox (enforce)").snap(program) == nil)
    }
}

@Suite struct LoginSessionTests {
    private static let session = {
        var details = LoginSession.Details()
        details.auditSession = 3
        details.logindSession = "c1"
        details.isRemote = true
        details.lockReason = .passwordDiffers
        return LoginSession(
            SessionID(rawValue: 7), user: 1000, account: "alice", leader: (42, 99),
            service: "sshd", details)
    }()

    @Test func `a session is the same after a restart`() {
        #expect(LoginSession(record: Self.session.record) == Self.session)
    }

    @Test func `a record that is not whole is none`() {
        let record = Self.session.record
        for count in 0..<record.count - 10 {
            #expect(LoginSession(record: Array(record.prefix(count))) == nil)
        }
        #expect(LoginSession(record: [0xFF, 0xFE]) == nil)
    }
}

@Suite struct QuestionTests {
    private static func caller(_ identity: Caller.Identity) -> Caller {
        Caller(
            user: 1000, process: 1, identity: identity, session: nil, terminal: nil,
            accessGroups: [])
    }

    @Test func `a program's words come below, quoted and clean`() {
        let question = Question(
            .read, names: ["bank"], itemCount: 1,
            reason: "ok\n/usr/bin/sudo wants\u{202E} you\u{1B}[2J")
        let text = question.text(for: Self.caller(.executable("/home/a/x")))
        let lines = text.split(separator: "\n")
        #expect(lines.count == 2)
        #expect(lines[0].hasPrefix("An unverified program, “/home/a/x”, wants to read "))
        #expect(lines[1].hasPrefix("The program says: “ok\\u{a}/usr"))
        #expect(!text.unicodeScalars.contains { $0 == "\u{202E}" || $0 == "\u{1B}" })
    }

    @Test func `long names are cut and many are counted`() {
        let names = (0..<50).map { "\($0)" + String(repeating: "x", count: 500) }
        let question = Question(.read, names: names, itemCount: 50, reason: nil)
        let text = question.text(for: Self.caller(.trustedExecutable("/usr/bin/git")))
        #expect(text.count < 400)
        #expect(text.contains("and 47 more"))
        #expect(text.hasPrefix("/usr/bin/git wants to read "))
    }

    @Test func `remarks that name many programs leave the first line in sight`() {
        let program = "/tmp/" + String(repeating: "x", count: 195)
        let question = Question(
            .change, names: ["bank"], itemCount: 1, reason: nil,
            remarks: [(0..<32).map { _ in program }.joined(separator: ", ")])
        let text = question.text(for: Self.caller(.trustedExecutable("/usr/bin/git")))
        #expect(text.count < 800)
        #expect(text.hasSuffix("… and more"))
    }

    @Test func `a name neither ends its own quotation nor piles marks on it`() {
        #expect(ShownText.quoted("a” wants “b", longest: 60) == "“a\\u{201d} wants \\u{201c}b”")
        #expect(ShownText.cleaned("say \"x\"", longest: 60) == "say \\u{22}x\\u{22}")
        let piled = "e" + String(repeating: "\u{301}", count: 30)
        let shown = ShownText.cleaned(piled, longest: 1000)
        #expect(shown.unicodeScalars.count(where: { $0 == "\u{301}" }) == 3)
        #expect(ShownText.cleaned("\u{301}e", longest: 60) == "\\u{301}e")
        #expect(ShownText.cleaned("l’été", longest: 60) == "l’été")
        // What escapes make of it is no longer than what was asked for.
        #expect(ShownText.cleaned(String(repeating: "\n", count: 60), longest: 60).count <= 61)
    }

    @Test func `what looks like the mark that ends a quotation is not shown`() {
        for mark in "\u{2EE}\u{2BA}\u{5F4}\u{2DD}\u{201D}\u{FF02}".unicodeScalars {
            let escaped = "\\u{" + String(mark.value, radix: 16) + "}"
            #expect(ShownText.cleaned("a\(mark). b", longest: 60) == "a\(escaped). b")
        }
        #expect(ShownText.cleaned("a’’b", longest: 60) == "a’\\u{2019}b")
        #expect(ShownText.cleaned("a''b'c", longest: 60) == "a'\\u{27}b'c")
        #expect(ShownText.cleaned("’\u{FE00}’", longest: 60) == "’\u{FE00}\\u{2019}")
        #expect(ShownText.cleaned("rock ’n’ roll’s", longest: 60) == "rock ’n’ roll’s")
    }

    @Test func `a path that its user chose is quoted and does not speak for the keychain`() {
        let question = Question(.read, names: ["bank"], itemCount: 1, reason: nil)
        let text = question.text(
            for: Self.caller(.executable("/home/a/x is yours.\nType “it” to go on.")))
        #expect(
            text
                == "An unverified program, “/home/a/x is yours.\\u{a}Type \\u{201c}it\\u{201d} to"
                + " go on.”, wants to read the keychain item “bank”.")
    }

    @Test func `of a long path the beginning and the file's name are shown`() {
        let path = "/home/alice/" + String(repeating: "folder/", count: 500) + "flood"
        let shown = ShownText.quotedPath(path)
        #expect(shown.hasPrefix("“/home/alice/folder/") && shown.hasSuffix("/folder/flood”"))
        #expect(shown.contains("…") && shown.unicodeScalars.count == 82)
        let question = Question(.read, names: ["bank"], itemCount: 1, reason: nil)
        #expect(question.text(for: Self.caller(.executable(path))).count < 150)
        #expect(ShownText.quotedPath("/opt/a/b") == "“/opt/a/b”")
    }

    @Test func `an unverified program's question says which service brings it`() {
        let caller = Caller(
            user: 1000, process: 1, identity: .executable("/home/a/x"), session: nil,
            terminal: nil, accessGroups: [], via: .portal)
        let question = Question(.unlockKeychain, names: ["login"], itemCount: 0, reason: nil)
        #expect(
            question.text(for: caller)
                == "An unverified program, “/home/a/x”, through the desktop's portal, wants to"
                + " unlock your keychain “login”.")
    }

    @Test func `an item without a name is an item all the same`() {
        let question = Question(.read, names: [], itemCount: 0, reason: nil)
        let text = question.text(for: Self.caller(.trustedExecutable("/usr/bin/git")))
        #expect(text == "/usr/bin/git wants to read a keychain item.")
    }
}

@Suite struct LimitTests {
    private static let login = KeychainID(user: 1, name: .login)

    @Test func `a keychain's password is tried one at a time, and not often wrongly`() throws {
        let guesses = UnlockThrottle()
        try guesses.begin(Self.login)
        #expect(throws: RequestError.refused(.tooManyRequests)) { try guesses.begin(Self.login) }
        try guesses.begin(KeychainID(user: 2, name: .login))
        guesses.end(Self.login, .right)
        for _ in 0..<3 {
            try guesses.begin(Self.login)
            guesses.end(Self.login, .wrong)
        }
        #expect(throws: RequestError.refused(.tooManyRequests)) { try guesses.begin(Self.login) }
    }

    @Test func `a right password of another keychain clears nothing`() throws {
        let guesses = UnlockThrottle()
        let other = KeychainID(user: 1, name: try #require(KeychainName("mine")))
        for _ in 0..<3 {
            try guesses.begin(Self.login)
            guesses.end(Self.login, .wrong)
            try guesses.begin(other)
            guesses.end(other, .right)
        }
        #expect(throws: RequestError.refused(.tooManyRequests)) { try guesses.begin(Self.login) }
        try guesses.begin(other)
    }

    @Test func `a try that was not decided forgives nothing`() throws {
        let guesses = UnlockThrottle()
        for outcome in [UnlockThrottle.Outcome.wrong, .undecided, .wrong, .undecided, .wrong] {
            try guesses.begin(Self.login)
            guesses.end(Self.login, outcome)
        }
        #expect(throws: RequestError.refused(.tooManyRequests)) { try guesses.begin(Self.login) }
    }

    @Test func `a wrong PIN is a wrong guess`() {
        #expect(UnlockThrottle.Outcome(.refused(.wrongPIN)) == .wrong)
        #expect(UnlockThrottle.Outcome(.refused(.wrongPassword)) == .wrong)
        #expect(UnlockThrottle.Outcome(.state(.protectorNotAvailable)) == .undecided)
    }

    @Test func `unlocks that wait are counted`() {
        let pending = PendingUnlocks()
        for _ in 0..<PendingUnlocks.mostForUser { #expect(pending.begin(1)) }
        #expect(!pending.begin(1))
        #expect(pending.begin(2))
        pending.end(1)
        #expect(pending.begin(1))
    }
}
