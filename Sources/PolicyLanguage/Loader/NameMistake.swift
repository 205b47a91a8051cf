// SPDX-License-Identifier: Apache-2.0
internal import KeychainPolicyModel

/// Why a name can't exist, and what may have been meant.
struct NameMistake {
    let message: String
    let advice: String

    private init(_ message: String, _ advice: String) {
        (self.message, self.advice) = (message, advice)
    }

    /// nil where the name may exist. With `isWhole` the text is no pattern.
    init?(_ text: String, of field: TextField, isWhole: Bool) {
        let found = Self.mark(text, field) ?? (isWhole ? Self.shape(text, field) : nil)
        guard let found else { return nil }
        self = found
    }

    /// Fields whose values begin with a letter, a digit or one of a few signs.
    private static let named: Set<TextField> = [
        .user, .group, .unit, .userUnit, .slice, .host, .server, .keychain,
    ]
    private static let accounts: Set<TextField> = [.user, .group]
    private static let quotes: Set<Unicode.Scalar> = [
        "\u{AB}", "\u{BB}", "\u{2018}", "\u{2019}", "\u{201A}", "\u{201B}", "\u{201C}", "\u{201D}",
        "\u{201E}", "\u{201F}",
    ]

    // MARK: Signs that mean something elsewhere

    private static func mark(_ text: String, _ field: TextField) -> NameMistake? {
        let first = text.unicodeScalars.first
        // A name may begin with such a mark, such as ’t Hooft.
        if let first, let last = text.unicodeScalars.last, text.unicodeScalars.count > 1,
            quotes.contains(first), quotes.contains(last), field != .itemLabel
        {
            return Self("\"\(text)\" stands in marks that quote nothing here", "use \" or '")
        }
        if text.contains("${") || text.contains("{{") {
            return Self("\"\(text)\" is taken letter by letter", "write the value itself")
        }
        if field == .server, text.contains("/") || hasPort(text) {
            return Self("\"\(text)\" is no host name", "name the host alone, as github.com")
        }
        guard named.contains(field) || field == .exe else { return nil }
        let literally = "\"\(text)\" is taken letter by letter"
        if first == "!" {
            return Self(literally + ", with its \"!\"", "say under unless what a rule is not about")
        }
        if first == "^" || (text.contains(".*") && text.hasSuffix("$")) {
            return Self(
                literally + ", and no pattern like this is known",
                "\"*\" stands for any text, as in \"ann*\"")
        }
        let isSet = text.firstIndex(of: "[").map { text[$0...].contains("]") } ?? false
        if text.contains("?") || text.contains("|") || isSet {
            return Self(literally, "only \"*\" stands for anything; write the others as a list")
        }
        return accounts.contains(field) ? account(text, first) : nil
    }

    /// The signs that sudoers uses.
    private static func account(_ text: String, _ first: Unicode.Scalar?) -> NameMistake? {
        let rest = text.dropFirst()
        switch first {
        case "%": return Self("no user or group is called \"\(text)\"", "write group: \(rest)")
        case "#": return Self("no user or group is called \"\(text)\"", "write uid: \(rest)")
        case _ where ["ALL", "ANY", "any", "anyone", "everyone"].contains(text):
            return Self("\"\(text)\" is taken for a name", "leave it out for all")
        default: return nil
        }
    }

    /// The colons of `::1` belong to the host.
    private static func hasPort(_ text: String) -> Bool {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        return parts.count == 2 && parts[1].allSatisfy(\.isNumber)
    }

    // MARK: Names of another form

    private static func shape(_ text: String, _ field: TextField) -> NameMistake? {
        // A directory service has groups such as "domain users".
        let names = text.split { $0 == "," || ($0 == " " && field != .group) }
        if names.count > 1, named.contains(field), field != .keychain {
            return Self(
                "\"\(text)\" is taken for one name",
                "write a list: [\(names.joined(separator: ", "))]")
        }
        switch field {
        case .exe: return path(text)
        case .unit, .userUnit: return unit(text)
        case .slice where !text.hasSuffix(".slice"):
            return Self("no slice is called \"\(text)\"", "write a slice as system.slice")
        case .user where FileReader.number(text) != nil:
            return Self("\"\(text)\" is taken for a name", "write uid: \(text)")
        case .group where FileReader.number(text) != nil:
            return Self("\"\(text)\" is taken for a name", "write the group's name")
        case .accessGroup where text.hasPrefix("/"):
            return Self("no access group is called \"\(text)\"", "write exe:\(text)")
        case .accessGroup where text.hasSuffix(".service") && !text.contains(":"):
            return Self("a unit's own group is not called \"\(text)\"", "write unit:\(text)")
        case .networkProtocol where text != text.lowercased():
            return Self("no protocol is called \"\(text)\"", "write \(text.lowercased())")
        default: return nil
        }
    }

    private static func path(_ text: String) -> NameMistake? {
        guard text.hasPrefix("/") else {
            return Self("no program is called \"\(text)\"", "write a path as /usr/bin/git")
        }
        if text.hasSuffix("/") {
            return Self("\"\(text)\" is a folder", "write \(text)* for the programs in it")
        }
        let steps = text.split(separator: "/", omittingEmptySubsequences: false).dropFirst()
        if steps.contains(where: { ["", ".", ".."].contains($0) }) {
            return Self("no program is called \"\(text)\"", "write the path without //, . and ..")
        }
        // A program's name may have a space, but in these folders none has.
        let command = text.split(separator: " ", maxSplits: 1)
        let folder = command.first?.split(separator: "/").dropLast().last
        guard command.count == 2, let folder, ["bin", "sbin"].contains(folder) else { return nil }
        return Self(
            "no program is called \"\(text)\"",
            "write the path alone: what a program is given is not known")
    }

    private static func unit(_ text: String) -> NameMistake? {
        guard let dot = text.lastIndex(of: ".") else {
            return Self("no unit is called \"\(text)\"", "write a unit as nginx.service")
        }
        // In x@y@.service the instance is "y@".
        let at = text.firstIndex(of: "@").map { text.index(after: $0) }
        guard at == dot else { return nil }
        return Self(
            "\"\(text)\" is a template, in which no program runs",
            "\"\(text[..<dot])*\(text[dot...])\" stands for all that are made of it")
    }
}
