// SPDX-License-Identifier: Apache-2.0
internal import PolicyLanguage

/// The first policies of a machine, with their tests, made from a few answers (`policy init`).
package struct PolicyDraft: Sendable {
    package enum Machine: String, CaseIterable, Sendable {
        case server, laptop, shared

        package var asks: [Ask] {
            switch self {
            case .server: [.ssh, .export]
            case .laptop: [.reading, .export, .locked]
            case .shared: [.ssh, .reading, .export, .locked]
            }
        }
    }

    /// The requests for which the user is asked, or which are refused.
    package enum Ask: String, CaseIterable, Sendable {
        case ssh, reading, export, locked

        package var words: String {
            switch self {
            case .ssh: "the password, before secrets are used over ssh"
            case .reading: "the user's presence every five minutes, for reading passwords"
            case .export: "the password, before a key leaves"
            case .locked: "nothing is read while the screen is locked"
            }
        }
    }

    package enum Mistake: Error, Equatable {
        /// Not of the form `name.service`.
        case unit(String)
        /// Two units whose names as access groups would be equal.
        case alike(String)
        case group(String)
        case ask(String)
        case nothing
    }

    package struct File: Sendable {
        package let name: String
        package let text: String
    }

    package let files: [File]

    /// `operators` is the Unix group whose members store the units' secrets.
    package init(
        _ machine: Machine, units: [String], operators: String, asks: [Ask]
    ) throws(Mistake) {
        guard !units.isEmpty || !asks.isEmpty else { throw .nothing }
        guard units.isEmpty || Self.isAccount(operators) else { throw .group(operators) }
        var files: [File] = []
        var names: Set<String> = []
        for unit in units {
            guard let name = Self.name(of: unit) else { throw .unit(unit) }
            guard names.insert(name).inserted else { throw .alike(unit) }
            files.append(
                File(
                    name: "50-\(name).yaml", text: Self.service(name, unit, operators: operators)))
        }
        let chosen = Ask.allCases.filter(asks.contains)
        if !chosen.isEmpty {
            let scope = machine == .shared ? "process" : "session"
            let rules = chosen.map { $0.rule(scope: scope) }.joined(separator: "\n")
            let tests = chosen.map(\.test).joined(separator: "\n")
            files.append(
                File(
                    name: "60-asks.yaml",
                    text: """
                        # What users of this machine are asked for, and what is refused.
                        policy: v1
                        name: asks

                        rules:
                        \(rules)
                        tests:
                        \(tests)
                        """))
        }
        self.files = files
    }

    // MARK: Names

    /// The unit's name as an access group and in ids: `postgresql` for `postgresql@*.service`. nil
    /// for a unit that is no service, and for a template, which never has a process.
    private static func name(of unit: String) -> String? {
        let ending = ".service"
        guard unit.hasSuffix(ending), unit.utf8.count <= Identifier.longest,
            unit.utf8.allSatisfy({ isWord($0) || ".@*".utf8.contains($0) })
        else { return nil }
        var base = unit.dropLast(ending.count)
        if let at = base.firstIndex(of: "@") {
            guard base[at...].utf8.count > 1 else { return nil }
            base = base[..<at]
        }
        let words = base.split { !($0.isASCII && ($0.isLetter || $0.isNumber)) }
        let name = words.joined(separator: "-")
        return name.isEmpty || base.contains("*") ? nil : name
    }

    private static func isAccount(_ name: String) -> Bool {
        !name.isEmpty && name.utf8.count <= Identifier.longest && name.utf8.allSatisfy(isWord)
    }

    private static func isWord(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "-"), UInt8(ascii: "_"): true
        default: false
        }
    }

    // MARK: Texts

    private static func service(_ name: String, _ unit: String, operators: String) -> String {
        let running = String(unit.map { $0 == "*" ? "1" : $0 })
        let item = "{access-group: \(name), class: generic-password}"
        return """
            # Secrets of \(unit): the service reads them, members of \(operators) change them.
            policy: v1
            name: \(name)

            groups:
              - id: \(name).members
                group: \(name)
                members:
                  - {unit: "\(unit)"}
                  - {group: \(operators)}

            closed:
              - id: \(name).only-listed
                resource: {access-group: \(name)}

            rules:
              - id: \(name).service
                permit: The service reads its secrets.
                operations: [read-secret, read-attributes]
                subject: {unit: "\(unit)"}
                resource: {access-group: \(name)}

              - id: \(name).operators
                permit: Operators put secrets in place and take them away.
                operations: [write, read-attributes]
                subject: {group: \(operators), session: [ssh, seat]}
                resource: {access-group: \(name)}

              - id: \(name).operators-prove-it
                description: Secrets are changed within five minutes of typing one's password.
                require: passcode
                within: 5m
                scope: session
                operations: write
                resource: {access-group: \(name)}
                unless:
                  - subject: {session: service}

            tests:
              - name: the service reads a secret, unasked
                request:
                  operation: read-secret
                  subject: {unit: \(running), session: service, member: false}
                  resource: \(item)
                expect: {decision: allow, because: [\(name).service]}

              - name: no other program reads one
                request:
                  operation: read-secret
                  subject: {user: ann, session: ssh, member: false}
                  resource: \(item)
                each:
                  subject.group: [[staff], [\(operators)], unknown!]
                expect:
                  - {decision: deny, because: []}
                  - {decision: deny, because: [\(name).only-listed]}
                  - {decision: deny, because: []}

              - name: an operator puts one in place
                request:
                  operation: add
                  subject: {user: ann, group: [\(operators)], session: ssh, member: false}
                  resource: \(item)
                each:
                  evidence: [{}, {passcode: {age: 2m, scope: session}}]
                expect:
                  - {decision: challenge, requires: passcode, because: [\(name).operators, \(name).operators-prove-it]}
                  - {decision: allow, because: [\(name).operators, \(name).operators-prove-it]}

            """
    }
}

extension PolicyDraft.Ask {
    fileprivate func rule(scope: String) -> String {
        switch self {
        case .ssh:
            """
              - id: asks.ssh
                description: Over ssh secrets are used within five minutes of typing the password.
                require: passcode
                within: 5m
                scope: tty
                operations: [read-secret, use-key]
                when: {remote: true}

            """
        case .reading:
            """
              - id: asks.reading
                description: Passwords are read by programs whose user was there in the last five minutes.
                require: presence
                within: 5m
                scope: \(scope)
                operations: read-secret
                unless:
                  - subject: {session: [service, cron]}

            """
        case .export:
            """
              - id: asks.export
                description: A key that leaves takes the password each time.
                require: passcode
                operations: export

            """
        case .locked:
            """
              - id: asks.locked
                forbid: The screen is locked.
                operations: [read-secret, use-key, export]
                when: {screen-locked: true}

            """
        }
    }

    fileprivate var test: String {
        switch self {
        case .ssh:
            """
              - name: a key is used over ssh, where it is not known, and at the machine
                request: {operation: sign, resource: {class: key}}
                each: {when.remote: [true, unknown!, false]}
                expect:
                  - {decision: challenge, requires: passcode, because: [asks.ssh]}
                  - {decision: challenge, requires: passcode, because: [asks.ssh]}
                  - {decision: allow, because: []}

            """
        case .reading:
            """
              - name: a password is read unproven, by one who was there, and by a service
                request: {operation: read-secret, resource: {class: generic-password}}
                each:
                  subject.session: [seat, seat, service]
                  evidence: [{}, {biometry: {age: 4m, scope: process}}, {}]
                expect:
                  - {decision: challenge, requires: presence, because: [asks.reading]}
                  - {decision: allow, because: [asks.reading]}
                  - {decision: allow, because: []}

            """
        case .export:
            """
              - name: a key leaves after the password alone
                request: {operation: export, resource: {class: key}}
                each: {evidence: [{}, {passcode: {age: 0s, scope: operation}}]}
                expect:
                  - {decision: challenge, requires: passcode, because: [asks.export]}
                  - {decision: allow, because: [asks.export]}

            """
        case .locked:
            """
              - name: a key behind a locked screen, one that may be, and an open one
                request: {operation: sign, resource: {class: key}}
                each: {when.screen-locked: [true, unknown!, false]}
                expect:
                  - {decision: deny, because: [asks.locked]}
                  - {decision: deny, because: [asks.locked]}
                  - {decision: allow, because: []}

            """
        }
    }
}
