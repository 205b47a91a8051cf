// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

@testable import PAMSetup

/// What a machine's PAM stacks will do for the login keychain.
@Suite final class PAMSetupTests {
    private let folder = NSTemporaryDirectory() + "pam-setup-" + UUID().uuidString

    init() throws {
        try FileManager.default.createDirectory(
            atPath: folder, withIntermediateDirectories: false)
    }

    deinit { try? FileManager.default.removeItem(atPath: folder) }

    private func write(_ name: String, _ text: String) throws {
        try Data(text.utf8).write(to: URL(fileURLWithPath: folder + "/" + name))
    }

    private func forecast(_ text: String) throws -> LoginForecast {
        try write("door", text)
        return LoginForecast(
            PAMStacks(folders: [folder]).service("door"), isInstalled: { !$0.hasPrefix("/gone/") })
    }

    private func mistakes(_ text: String) throws -> [PAMMistake.Kind] {
        try forecast(text).troubles.compactMap {
            guard case .mistake(let mistake) = $0 else { return nil }
            return mistake.kind
        }
    }

    private static let debian = """
        auth [success=2 default=ignore] pam_unix.so nullok
        auth [success=1 default=ignore] pam_sss.so use_first_pass
        auth requisite pam_deny.so
        auth required pam_permit.so
        auth optional pam_keychain.so
        """
    private static let session = "session optional pam_keychain.so\n"

    // MARK: What happens at a login

    @Test func `behind Debian's jumps the password unlocks`() throws {
        let found = try forecast(Self.debian + "\n" + Self.session)
        #expect(found.password == .unlocks)
        #expect(found.troubles.isEmpty)
        #expect(found.smallestUser == 1000)
    }

    @Test func `through includes the same is found`() throws {
        try write("common-auth", Self.debian)
        try write("common-session", Self.session)
        let found = try forecast("@include common-auth\n@include common-session")
        #expect(found.password == .unlocks)
        try write("system-auth", "auth sufficient pam_unix.so\nauth required pam_deny.so")
        try write("postlogin", "auth optional pam_keychain.so\n" + Self.session)
        let authselect = try forecast(
            "auth substack system-auth\nauth include postlogin\nsession include postlogin")
        #expect(authselect.password == .unlocks)
        #expect(authselect.troubles.isEmpty)
    }

    @Test func `a line behind a sufficient one is never reached`() throws {
        let found = try forecast(
            """
            auth sufficient pam_unix.so
            auth required pam_deny.so
            auth optional pam_keychain.so
            """ + "\n" + Self.session)
        #expect(found.password == .notTaken)
        let place = PAMPlace(file: folder + "/door", line: 3)
        #expect(found.troubles == [.notReached(place, whenLetInBy: "pam_unix")])
    }

    @Test func `an include lets sufficient end the whole stack, a substack does not`() throws {
        try write("inner", "auth sufficient pam_unix.so\nauth required pam_deny.so")
        let last = "\nauth optional pam_keychain.so\n" + Self.session
        #expect(try forecast("auth include inner" + last).password == .notTaken)
        #expect(try forecast("auth substack inner" + last).password == .unlocks)
    }

    @Test func `one of two kinds of accounts that comes in without us is told`() throws {
        let found = try forecast(
            """
            auth sufficient pam_sss.so
            auth required pam_unix.so
            auth optional pam_keychain.so
            """ + "\n" + Self.session)
        #expect(found.password == .unlocks)
        let place = PAMPlace(file: folder + "/door", line: 3)
        #expect(found.troubles == [.notReached(place, whenLetInBy: "pam_sss")])
    }

    @Test func `half of the lines do half of the work`() throws {
        let auth = "auth required pam_unix.so\n"
        #expect(try forecast(auth + Self.session).password == .notTaken)
        let taken = auth + "auth optional pam_keychain.so"
        #expect(try forecast(taken).password == .notUsed)
        #expect(try forecast(taken + " unlock").password == .unlocksAgain)
        #expect(try forecast(auth).password == .unknown)
        #expect(try !forecast(auth).knowsKeychain)
    }

    @Test func `a fingerprint before the password leaves the keychain locked`() throws {
        let found = try forecast(
            """
            auth sufficient pam_fprintd.so
            auth required pam_unix.so
            auth optional pam_keychain.so
            """ + "\n" + Self.session)
        #expect(found.password == .unlocks)
        #expect(found.admitsWithoutPassword)
        #expect(found.troubles.isEmpty)
    }

    @Test func `a second factor that must be shown too is no way around us`() throws {
        let found = try forecast(
            """
            auth required pam_unix.so
            auth required pam_google_authenticator.so
            auth optional pam_keychain.so
            """ + "\n" + Self.session)
        #expect(found.password == .unlocks)
        #expect(found.troubles.isEmpty)
    }

    @Test func `only a forced keyring behind us hides the ticket`() throws {
        let auth = "auth required pam_unix.so\nauth optional pam_keychain.so\n"
        let forced = "session optional pam_keyinit.so force revoke\n"
        let place = PAMPlace(file: folder + "/door", line: 4)
        #expect(
            try forecast(auth + Self.session + forced).troubles == [.keyringReplaced(by: place)])
        #expect(try forecast(auth + forced + Self.session).troubles.isEmpty)
        let gentle = "session optional pam_keyinit.so revoke\n"
        #expect(try forecast(auth + Self.session + gentle).troubles.isEmpty)
    }

    @Test func `other control values, senseless options and different users are told`() throws {
        let auth = "auth required pam_unix.so\n"
        let door = folder + "/door"
        #expect(
            try forecast(
                auth + "auth required pam_keychain.so\nsession optional pam_keychain.so min_uid=500"
            ).troubles == [
                .notOptional(PAMPlace(file: door, line: 2)),
                .differentUsers(PAMPlace(file: door, line: 2), PAMPlace(file: door, line: 3)),
            ])
        for option in ["nonsense", "debug debug", "timeout_ms=9999", "socket=x", "min_uid=-1"] {
            let found = try forecast("\(auth)auth optional pam_keychain.so \(option)\n")
            let last = option.split(separator: " ").last.map(String.init) ?? ""
            #expect(
                found.troubles == [.badOption(PAMPlace(file: door, line: 2), last)], "\(option)")
        }
        let fine = "debug min_uid=500 timeout_ms=100 socket=/run/x unlock"
        #expect(try forecast("\(auth)auth optional pam_keychain.so \(fine)").troubles.isEmpty)
    }

    @Test func `a module that is not there is told`() throws {
        let found = try forecast("session optional /gone/pam_keychain.so")
        let place = PAMPlace(file: folder + "/door", line: 1)
        #expect(found.troubles == [.moduleMissing(place, "/gone/pam_keychain.so")])
        #expect(!PAMModule.isInstalled("pam_never_made.so"))
        #expect(PAMModule.isInstalled("pam_unix.so"))
    }

    @Test func `a password that is changed here is changed for the keychain, or not`() throws {
        let unix = "password required pam_unix.so\n"
        #expect(try forecast(unix).changesPassword == false)
        #expect(
            try forecast(unix + "password optional pam_keychain.so").changesPassword == true)
        #expect(try forecast(Self.session).changesPassword == nil)
    }

    // MARK: Files as they come

    @Test func `comments, continued lines, brackets and dashes are read as PAM reads them`() throws
    {
        let found = try forecast(
            """
            # a comment
            auth  \\
              [success=ok new_authtok_reqd=ok \\
               ignore=ignore default=bad] \\
              pam_unix.so # another
            -auth optional /lib/security/pam_keychain.so
            AUTH OPTIONAL pam_exec.so [/bin/x with \\] and spaces]
            session optional pam_keychain.so
            """)
        #expect(found.password == .unlocks)
        #expect(found.troubles.isEmpty)
    }

    @Test func `what makes no sense is told with its place`() throws {
        #expect(try mistakes("what required pam_unix.so") == [.unknownKind("what")])
        #expect(try mistakes("auth maybe pam_unix.so") == [.unknownControl("maybe")])
        #expect(
            try mistakes("auth [success=0] pam_unix.so") == [.unknownControl("success=0")])
        #expect(try mistakes("auth [success=ok pam_unix.so") == [.openBracket])
        #expect(try mistakes("auth required") == [.noModule])
        #expect(try mistakes("auth") == [.noModule])
        #expect(try mistakes("@include") == [.noModule])
        #expect(try mistakes("@include nothing") == [.missingFile("nothing")])
        try FileManager.default.createDirectory(
            atPath: folder + "/folder", withIntermediateDirectories: false)
        #expect(try mistakes("@include folder") == [.unreadable("folder")])
    }

    @Test func `files that include one another come to an end`() throws {
        #expect(try mistakes("@include door") == [.tooDeep])
        #expect(try mistakes("auth include door\nauth include door").contains(.tooLong))
    }

    @Test func `no bytes make it trap`() throws {
        let words = [
            "auth", "session", "password", "[", "]", "success=1", "success=255", "default=die",
            "required", "sufficient", "substack", "include", "@include", "door", "pam_unix.so",
            "pam_keychain.so", "pam_deny.so", "\\", "\n", "\\\n", "#", "-", "=", "\u{301}", "\r\n",
            "\0", "min_uid=99999999999", "unlock", " ", "\t",
        ]
        for _ in 0..<400 {
            let text = (0..<Int.random(in: 0..<60)).map { _ in words.randomElement() ?? "" }
            _ = try forecast(text.joined(separator: Bool.random() ? " " : ""))
        }
        for count in [1, 100, 70_000] {
            let noise = (0..<count).map { _ in UInt8.random(in: 0...255) }
            try Data(noise).write(to: URL(fileURLWithPath: folder + "/door"))
            _ = LoginForecast(PAMStacks(folders: [folder]).service("door"))
        }
    }

    @Test func `services are named by their files, the administrator's before the system's`() throws
    {
        let vendor = folder + "/vendor"
        try FileManager.default.createDirectory(
            atPath: vendor, withIntermediateDirectories: false)
        try Data(Self.session.utf8).write(to: URL(fileURLWithPath: vendor + "/door"))
        for name in [".hidden", "backup~", "door.dpkg-dist"] { try write(name, "") }
        let stacks = PAMStacks(folders: [folder, vendor])
        #expect(stacks.names == ["door", "vendor"])
        #expect(LoginForecast(stacks.service("door")).password == .notTaken)
        try write("door", "auth required pam_unix.so")
        #expect(LoginForecast(stacks.service("door")).password == .unknown)
    }
}
