// SPDX-License-Identifier: Apache-2.0
internal import KeychainModel

/// `get` in the forms in which programs call it again and again: a class or a name, and options that
/// are followed by their values, each once.
///
/// The parser of all commands takes longer than all else that the program does. So this form is read
/// without it, and no other: help, JSON, mistakes and all that could be meant in two ways are the
/// parser's, and nil here.
struct PlainGet {
    let target: GetCommand.Target
    private let keychain: String?

    init?(_ arguments: some Sequence<String>) {
        var words = arguments.makeIterator()
        guard words.next() == "get" else { return nil }
        var first: String?
        var wanted = WantedItems(kind: .genericPassword)
        // Few, as what is no option ends it; the first set of a program costs a seventh of a millisecond.
        var seen: [String] = []
        while let word = words.next() {
            guard word.hasPrefix("-") else {
                guard first == nil, !word.isEmpty else { return nil }
                first = word
                continue
            }
            guard !seen.contains(word) else { return nil }
            seen.append(word)
            if word == "--no-prompt" {
                wanted.mayAsk = false
                continue
            }
            guard let value = words.next(), !value.isEmpty, !value.hasPrefix("-"),
                wanted.take(word, value)
            else { return nil }
        }
        guard let first else { return nil }
        guard let kind = ItemKind(rawValue: first) else {
            target = .name(NamedItems(name: ItemName(first), kind: nil, wanted: wanted))
            keychain = wanted.keychain
            return
        }
        wanted.kind = kind
        guard let query = try? wanted.query(), WantedItems.areSaid(by: query) else { return nil }
        target = .query(query)
        keychain = query.keychain
    }

    func run() throws(CommandFailure) {
        let asked = Keychain(name: keychain, asJSON: false)
        try GetCommand.write(try GetCommand.item(target, from: asked), from: asked)
    }
}

extension WantedItems {
    /// False for an option that is not known here, and for what is no value of it.
    fileprivate mutating func take(_ option: String, _ value: String) -> Bool {
        switch option {
        case "--service": values.service = value
        case "--account": values.account = value
        case "--server": values.server = value
        case "--path": values.path = value
        case "--label": values.label = value
        case "--comment": values.comment = value
        case "--description": values.description = value
        case "--group": group = value
        case "--keychain": keychain = value
        case "--protocol":
            guard let word = ProtocolWord(argument: value) else { return false }
            values.networkProtocol = word
        case "--port":
            guard let port = UInt16(value) else { return false }
            values.port = port
        case "--accessible":
            guard let word = AccessibilityWord(argument: value) else { return false }
            accessible = word
        default: return false
        }
        return true
    }
}
