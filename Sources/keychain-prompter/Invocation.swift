// SPDX-License-Identifier: Apache-2.0

/// The mode that the command line selects.
enum Invocation: Equatable {
    /// Answers every question of this login session.
    case register(Place, socket: String)
    /// Answers the one question to which the daemon gave this challenge.
    case challenge([UInt8], socket: String)
    /// Answers the program at the other end of descriptor 3.
    case conversation
    case help
    case wrong

    /// Where questions are shown.
    enum Place {
        case terminal, desktop
        /// The desktop if there is one, else the terminal.
        case either
    }

    static let defaultSocket = "/run/keychain/keychain.sock"
    private static let challengeBytes = 16

    static let usage = """
        Usage: keychain-prompter [--desktop | --terminal] [--socket PATH]
               keychain-prompter --challenge HEX [--socket PATH]
               keychain-prompter --conversation
        Shows the keychain's questions. See keychain-prompter(1).

        """

    init(_ words: [String]) {
        if words == ["--help"] {
            self = .help
        } else if words == ["--conversation"] {
            self = .conversation
        } else {
            self = Self.daemonForm(words[...]) ?? .wrong
        }
    }

    private static func daemonForm(_ words: ArraySlice<String>) -> Invocation? {
        var rest = words
        var socket: String?
        var challenge: [UInt8]?
        var place: Place?
        while let option = rest.popFirst() {
            if let named = Self.place(option) {
                guard place == nil else { return nil }
                place = named
                continue
            }
            guard let value = rest.popFirst() else { return nil }
            switch option {
            case "--socket" where socket == nil && value.hasPrefix("/"): socket = value
            case "--challenge" where challenge == nil:
                guard let bytes = bytes(value) else { return nil }
                challenge = bytes
            default: return nil
            }
        }
        let path = socket ?? defaultSocket
        guard let challenge else { return .register(place ?? .either, socket: path) }
        return place == nil ? .challenge(challenge, socket: path) : nil
    }

    private static func place(_ option: String) -> Place? {
        switch option {
        case "--desktop": .desktop
        case "--terminal": .terminal
        default: nil
        }
    }

    private static func bytes(_ hex: String) -> [UInt8]? {
        let digits = hex.utf8.compactMap { Character(Unicode.Scalar($0)).hexDigitValue }
        guard digits.count == challengeBytes * 2, hex.utf8.count == digits.count else {
            return nil
        }
        return stride(from: 0, to: digits.count, by: 2).map {
            UInt8(digits[$0] << 4 | digits[$0 + 1])
        }
    }
}
