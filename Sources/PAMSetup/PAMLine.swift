// SPDX-License-Identifier: Apache-2.0

/// One line of a PAM service: which module is asked, and what its answer means.
public struct PAMLine: Sendable, Equatable {
    public enum Kind: String, Sendable, CaseIterable { case auth, account, session, password }

    public let kind: Kind
    public let control: PAMControl
    /// As written: a name, or an absolute path.
    public let module: String
    public let arguments: [String]
    public let place: PAMPlace

    /// Without folder and ending: `pam_unix`.
    public var name: String {
        let file = module.split(separator: "/").last.map(String.init) ?? module
        return file.hasSuffix(".so") ? String(file.dropLast(3)) : file
    }
}

public struct PAMPlace: Sendable, Equatable {
    public let file: String
    public let line: Int
}

/// What a module's answer does to the stack.
public enum PAMControl: Sendable, Equatable {
    case required, requisite, sufficient, optional
    /// The bracket form: what each return value means; `default` for the others.
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

public enum PAMAction: Sendable, Equatable {
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

/// The three kinds of answer that matter to who looks on.
enum PAMAnswer: String {
    case success
    case failure = "auth_err"
    case ignore
}
