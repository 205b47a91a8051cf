// SPDX-License-Identifier: Apache-2.0
internal import PAMSetup

/// What will happen at a login, for each service through which people come in.
struct LoginExam {
    private static let logins: Set<String> = [
        "login", "remote", "sshd", "gdm", "gdm-password", "lightdm", "sddm", "kde", "xdm", "lxdm",
        "greetd", "cosmic-greeter", "ly", "slim", "xrdp-sesman", "cockpit",
    ]
    /// Takes passwords in another process, or none: what comes in so stays locked.
    private static let manyWays: Set<String> = ["sshd"]
    private let forecasts: [LoginForecast]

    init(_ stacks: PAMStacks) {
        let services = stacks.names.map(stacks.service)
        // What other services include is no service, but Debian's screen lockers include `login`.
        let parts = services.reduce(into: Set(["other"])) { $0.formUnion($1.included) }
            .subtracting(Self.logins)
        forecasts = services.filter { !parts.contains($0.name) }.map { LoginForecast($0) }
    }

    var findings: [Finding] {
        let shown = forecasts.filter {
            $0.knowsKeychain || Self.logins.contains($0.service) || $0.service == "passwd"
                || $0.service == "systemd-user"
        }
        var findings: [Finding] = []
        var told: Set<String> = []
        for forecast in shown {
            findings.append(finding(for: forecast))
            // What stands in a file that many services include is told once.
            findings += forecast.troubles.map(trouble).filter { told.insert($0.sentence).inserted }
        }
        if !forecasts.contains(where: { $0.password == .unlocks }) {
            findings.append(
                Finding(
                    .logins, .trouble, "no login unlocks a login keychain",
                    remedy: """
                        pam-auth-update --enable keychain, an authselect feature, or lines by hand: \
                        see pam_keychain(8).
                        """))
        }
        return findings
    }

    private func finding(for forecast: LoginForecast) -> Finding {
        let name = forecast.service
        func finding(
            _ state: Finding.State, _ words: String, remedy: String? = nil
        ) -> Finding {
            Finding(.logins, state, "\(name): \(words)", remedy: remedy)
        }
        switch forecast.password {
        case .unlocks:
            var words = "the password of a login unlocks the login keychain"
            if forecast.smallestUser != 1000 {
                words += " of users from number \(forecast.smallestUser)"
            }
            if Self.manyWays.contains(name) {
                words += "; a public key or keyboard-interactive leaves it locked"
            } else if forecast.admitsWithoutPassword {
                words += "; what lets people in without one leaves it locked"
            }
            if forecast.changesPassword == false {
                words += "; a password that is changed here is not changed for the keychain"
            }
            return finding(.fine, words)
        case .notTaken where name == "systemd-user":
            return finding(.fine, "the user manager's session is known, and opens nothing")
        case .notTaken where forecast.changesPassword == true && !Self.logins.contains(name):
            return finding(.fine, "a password that is changed here is changed for the keychain")
        case .notTaken:
            return finding(
                .note, "its logins are known, and leave the login keychain locked",
                remedy: "An auth line behind those that check the password would unlock it.")
        case .notUsed where !Self.logins.contains(name):
            // Debian's sudo and cron have the auth lines of logins, and no session of the keychain's.
            return finding(.fine, "a password here leaves the login keychain as it is")
        case .notUsed:
            return finding(
                .trouble, "the password of a login is taken, and never used",
                remedy: "It wants a session line, too: session optional pam_keychain.so")
        case .unlocksAgain:
            return finding(.fine, "its password opens a locked login keychain again")
        case .unknown where name == "systemd-user":
            return finding(
                .note,
                "the user manager's session is not known; its programs are served as its user")
        case .unknown where name == "passwd":
            return finding(
                .note, "a password that is changed here is not changed for the keychain",
                remedy: "The keychain then opens with its old password: keychainctl unlock.")
        case .unknown:
            return finding(.note, "does not know the keychain; its logins leave it locked")
        }
    }

    private func trouble(_ trouble: LoginForecast.Trouble) -> Finding {
        switch trouble {
        case .notReached(let place, let module):
            Finding(
                .logins, .trouble,
                "\(shown(place)): never reached by those whom \(module) lets in",
                remedy: """
                    Move it behind, or let the line of \(module) not end the stack (“done”, \
                    “sufficient”).
                    """)
        case .keyringReplaced(let place):
            Finding(
                .logins, .trouble,
                "\(shown(place)): a forced pam_keyinit behind pam_keychain.so hides its ticket",
                remedy: "Let the session line of pam_keychain.so stand behind it.")
        case .notOptional(let place):
            Finding(
                .logins, .trouble, "\(shown(place)): pam_keychain.so is not “optional” here",
                remedy: "Nothing else is supported: it should let no user in and keep no user out.")
        case .badOption(let place, let option):
            Finding(
                .logins, .trouble,
                "\(shown(place)): pam_keychain.so does nothing with the option “\(option)”",
                remedy: "It is unknown, makes no sense or stands there twice: see pam_keychain(8).")
        case .differentUsers(let first, let second):
            Finding(
                .logins, .trouble,
                "\(shown(first)) and \(shown(second)) are not for the same users",
                remedy: "Give both lines the same min_uid.")
        case .moduleMissing(let place, let module):
            Finding(
                .logins, .trouble, "\(shown(place)): \(module) is not installed",
                remedy: "PAM goes on without it, and keychains stay locked.")
        case .mistake(let mistake):
            Finding(
                .logins, .trouble, "\(shown(mistake.place)): \(message(for: mistake.kind))",
                remedy: "PAM may refuse every login through a service with such a line.")
        }
    }

    private func shown(_ place: PAMPlace) -> String {
        place.line > 0 ? "\(place.file), line \(place.line)" : place.file
    }

    private func message(for kind: PAMMistake.Kind) -> String {
        switch kind {
        case .unknownKind(let word): "“\(word)” is none of auth, account, session and password"
        case .unknownControl(let word): "“\(word)” is no control value"
        case .openBracket: "a bracket is not closed"
        case .noModule: "no module is named"
        case .missingFile(let name): "there is no “\(name)” to include"
        case .unreadable(let name): "“\(name)” can't be read"
        case .tooDeep: "files include one another without end"
        case .tooLong: "there are too many lines"
        }
    }
}
