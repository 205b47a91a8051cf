// SPDX-License-Identifier: Apache-2.0

/// One line of a PAM service: the module, and the effect of its answer.
package struct PAMLine: Sendable, Equatable {
    package enum Kind: String, Sendable, CaseIterable { case auth, account, session, password }

    package let kind: Kind
    package let control: PAMControl
    /// As written: a name, or an absolute path.
    package let module: String
    package let arguments: [String]
    package let place: PAMPlace

    /// The name without folder and suffix: `pam_unix`.
    package var name: String {
        let file = module.split(separator: "/").last.map(String.init) ?? module
        return file.hasSuffix(".so") ? String(file.dropLast(3)) : file
    }
}

package struct PAMPlace: Sendable, Equatable {
    package let file: String
    package let line: Int
}

/// The effect of a module's answer on the stack.
package enum PAMControl: Sendable, Equatable {
    case required, requisite, sufficient, optional
    /// The bracket form: the action for each return value; `default` for the others.
    case actions([String: PAMAction])
    case include, substack

    func action(for answer: PAMAnswer) -> PAMAction {
        switch self {
        case .required, .include, .substack:
            switch answer {
            case .success: .ok
            case .ignore: .ignore
            case .failure: .bad
            }
        case .requisite:
            switch answer {
            case .success: .ok
            case .ignore: .ignore
            case .failure: .die
            }
        case .sufficient: answer == .success ? .done : .ignore
        case .optional: answer == .success ? .ok : .ignore
        case .actions(let actions): actions[answer.rawValue] ?? actions["default"] ?? .bad
        }
    }
}

package enum PAMAction: Sendable, Equatable {
    case ignore, bad, die, ok, done, reset
    /// The number of lines that are skipped.
    case jump(Int)

    init?(_ word: Substring) {
        switch word {
        case "ignore": self = .ignore
        case "bad": self = .bad
        case "die": self = .die
        case "ok": self = .ok
        case "done": self = .done
        case "reset": self = .reset
        default:
            guard let number = Int(word), (1...255).contains(number) else { return nil }
            self = .jump(number)
        }
    }
}

/// The three kinds of answer that matter for the forecast.
enum PAMAnswer: String {
    case success
    case failure = "auth_err"
    case ignore
}
