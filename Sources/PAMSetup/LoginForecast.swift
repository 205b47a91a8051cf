// SPDX-License-Identifier: Apache-2.0

/// The effect of a service's lines on the login keychain of a user who logs in through it.
package struct LoginForecast: Sendable, Equatable {
    package enum Password: Sendable, Equatable {
        /// A line takes the password at the authentication, and one uses it when the session opens.
        case unlocks
        /// No line takes the password: the session is reported, and the keychain stays locked.
        case notTaken
        /// A line takes the password, and no line uses it.
        case notUsed
        /// A screen locker's service: it opens a keychain that was locked, and no other.
        case unlocksAgain
        /// The service has no lines for the keychain.
        case unknown
    }

    package enum Trouble: Sendable, Equatable {
        /// The line exists, but a login that this module accepts never reaches it.
        case notReached(PAMPlace, whenLetInBy: String)
        case keyringReplaced(by: PAMPlace)
        /// The line has another control value than `optional`.
        case notOptional(PAMPlace)
        /// The module does nothing with an option that is unknown or repeated.
        case badOption(PAMPlace, String)
        /// The lines name different smallest users: accounts between the two get only half of the
        /// effect.
        case differentUsers(PAMPlace, PAMPlace)
        /// PAM goes on without the module, and logs that.
        case moduleMissing(PAMPlace, String)
        case mistake(PAMMistake)
    }

    package let service: String
    package let password: Password
    /// Whether other proofs than a password let users in, which leaves the keychain locked.
    package let admitsWithoutPassword: Bool
    /// Whether a password changed through the service is also changed for the keychain; nil where
    /// the service can't change one.
    package let changesPassword: Bool?
    /// The smallest user number that has a keychain.
    package let smallestUser: UInt32
    package let troubles: [Trouble]

    package var knowsKeychain: Bool { password != .unknown }

    package init(
        _ service: PAMService, isInstalled: (String) -> Bool = PAMModule.isInstalled
    ) {
        self.service = service.name
        let lines = PAMLine.Kind.allCases.reduce(into: [:]) { ours, kind in
            ours[kind] = service.nodes(kind).flatMap(\.lines).filter(\.isOurs)
        }
        let auth = LetIn(service.nodes(.auth))
        let session = PAMWalk(service.nodes(.session)) { _ in .success }
        let opens = session.reached.contains(where: \.isOurs)
        let takes = auth.ways.contains(where: \.reachesUs)
        let taken = lines[.auth] ?? []
        var troubles: [Trouble] = []
        for way in auth.ways where !way.reachesUs {
            if let line = taken.first {
                troubles.append(.notReached(line.place, whenLetInBy: way.module))
            }
        }
        if !opens, let line = lines[.session]?.first {
            troubles.append(.notReached(line.place, whenLetInBy: "a session"))
        }
        if let place = Self.replacedKeyring(session.reached) {
            troubles.append(.keyringReplaced(by: place))
        }
        for line in PAMLine.Kind.allCases.flatMap({ lines[$0] ?? [] }) {
            if line.control != .optional { troubles.append(.notOptional(line.place)) }
            if !isInstalled(line.module) {
                troubles.append(.moduleMissing(line.place, line.module))
            }
            if let option = line.badOption {
                troubles.append(.badOption(line.place, option))
            }
        }
        if let first = taken.first, let second = lines[.session]?.first,
            first.smallestUser != second.smallestUser
        {
            troubles.append(.differentUsers(first.place, second.place))
        }
        troubles += service.mistakes.map(Trouble.mistake)
        self.troubles = troubles
        let unlocksAtOnce = taken.contains { $0.arguments.contains("unlock") }
        password =
            switch (takes, opens) {
            case (true, true): .unlocks
            case (false, true): .notTaken
            case (true, false): unlocksAtOnce ? .unlocksAgain : .notUsed
            case (false, false):
                lines.values.allSatisfy(\.isEmpty) ? .unknown : .notTaken
            }
        admitsWithoutPassword = auth.hasOtherProofs
        let changing = service.nodes(.password).flatMap(\.lines)
        changesPassword =
            changing.contains(where: \.takesPassword) ? changing.contains(where: \.isOurs) : nil
        smallestUser = (taken + (lines[.session] ?? [])).map(\.smallestUser).max() ?? 1000
    }

    /// A line after the keychain's session line that makes a new keyring and so hides the ticket;
    /// nil if there is none.
    private static func replacedKeyring(_ session: [PAMLine]) -> PAMPlace? {
        guard let ours = session.firstIndex(where: \.isOurs) else { return nil }
        return session[(ours + 1)...].first {
            $0.name == "pam_keyinit" && $0.arguments.contains("force")
        }?.place
    }
}

/// The ways in which the right password lets a user in: through each of the modules that check one.
private struct LetIn {
    struct Way {
        let module: String
        let reachesUs: Bool
    }
    private(set) var ways: [Way] = []
    let hasOtherProofs: Bool
    private static let mostAlternatives = 6

    init(_ nodes: [PAMNode]) {
        let lines = nodes.flatMap(\.lines)
        hasOtherProofs = lines.contains { PAMLine.otherProofs.contains($0.name) }
        let checking = lines.filter(\.takesPassword)
        let alternatives = Array(
            lines.filter { PAMLine.alternatives.contains($0.name) }
                .map(\.place).prefix(Self.mostAlternatives))
        for admitting in checking {
            // Other modules that may let users in are assumed to fail, unless no login succeeds
            // without them.
            let walks = (0..<(1 << alternatives.count)).lazy.map { chosen in
                PAMWalk(nodes) { line in
                    if let number = alternatives.firstIndex(of: line.place) {
                        return chosen & (1 << number) != 0 ? .success : .failure
                    }
                    return Self.answer(line, admittedBy: admitting)
                }
            }
            guard let walk = walks.first(where: \.succeeds) else { continue }
            ways.append(
                Way(
                    module: admitting.name,
                    reachesUs: walk.reached.contains(where: \.isOurs)))
        }
    }

    private static func answer(_ line: PAMLine, admittedBy admitting: PAMLine) -> PAMAnswer {
        if line.isOurs { return .ignore }
        if line.name == "pam_deny" { return .failure }
        guard line.takesPassword else { return .success }
        return line.place == admitting.place ? .success : .failure
    }
}

extension PAMLine {
    fileprivate static let passwords: Set<String> = [
        "pam_unix", "pam_unix2", "pam_sss", "pam_ldap", "pam_winbind", "pam_krb5",
        "pam_systemd_home", "pam_userdb", "pam_authd_exec",
    ]
    fileprivate static let otherProofs: Set<String> = [
        "pam_fprintd", "pam_u2f", "pam_usb", "pam_howdy", "pam_p11", "pam_pkcs11",
        "pam_ssh_agent_auth",
        "pam_google_authenticator", "pam_oath",
    ]
    /// Modules that accept users, or pass them on, by something else than a password.
    fileprivate static let alternatives = otherProofs.union([
        "pam_rootok", "pam_succeed_if", "pam_wheel",
    ])

    var isOurs: Bool { name == "pam_keychain" }
    var takesPassword: Bool { Self.passwords.contains(name) }

    fileprivate var smallestUser: UInt32 {
        arguments.compactMap {
            $0.hasPrefix("min_uid=") ? UInt32($0.dropFirst("min_uid=".count)) : nil
        }.last ?? 1000
    }

    /// The first option that makes the module do nothing.
    fileprivate var badOption: String? {
        var seen: Set<Substring> = []
        for argument in arguments {
            let name = argument.prefix { $0 != "=" }
            let isKnown =
                switch name {
                case "debug", "required", "strict", "unlock": argument == name
                case "min_uid": UInt32(argument.dropFirst(name.count + 1)) != nil
                case "timeout_ms":
                    Int(argument.dropFirst(name.count + 1)).map { (1...2000).contains($0) } ?? false
                case "socket": argument.hasPrefix("socket=/")
                default: false
                }
            if !isKnown || !seen.insert(name).inserted { return argument }
        }
        return nil
    }
}
