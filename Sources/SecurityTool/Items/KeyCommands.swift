// SPDX-License-Identifier: Apache-2.0
internal import KeychainModel

/// `find-key`, `set-key-partition-list`.
enum KeyCommands {
    private static let usage = """
        [-a label] [-c creator] [-D description] [-j comment] [-l label] \
        [-t symmetric|public|private] [-d] [-e] [-r] [-s] [-u] [-v] [-w]
        """
    private static let letters = "a:c:D:j:l:t:dersuvw"

    /// The letters and attributes of a key's uses.
    private static let uses: [(letter: Character, name: AttributeName)] = [
        ("d", .canDecrypt), ("e", .canEncrypt), ("r", .canDerive), ("s", .canSign),
        ("u", .canUnwrap), ("v", .canVerify), ("w", .canWrap),
    ]

    static let find = Command(
        "find-key", usage + " [keychain]", "Show keys.", letters: letters
    ) { options, session throws(CommandFailure) in
        guard options.words.count <= 1 else { throw .usage }
        var query = try query(options)
        query.limit = nil
        query.returnFields = .attributes
        do throws(RequestError) {
            let found = try session.items(query, in: options.words)
            guard !found.isEmpty else { throw .state(.notFound) }
            for key in found { session.dump(key) }
        } catch { throw .said(CommandFailure(error, CallName.matching).text, exit: 1) }
    }

    static let setPartitionList = Command(
        "set-key-partition-list",
        usage + " -S partition-id[,...] [-k password] [keychain]",
        "Accept a partition list for keys; it is not kept.", letters: letters + "S:k?",
        hiding: "k"
    ) { options, session throws(CommandFailure) in
        try PartitionList.set(try query(options), options, session)
    }

    private static func query(_ options: Options) throws(CommandFailure) -> ItemQuery {
        var query = ItemQuery(.key)
        query.synchronizable = .any
        switch options["t"] {
        case nil: break
        case "public": query.attributes[.keyClass] = .number(0)
        case "private": query.attributes[.keyClass] = .number(1)
        case "symmetric": query.attributes[.keyClass] = .number(2)
        default: throw .usage
        }
        if let label = options["a"] {
            let bytes = label.utf8.count == 40 ? HexDigits.bytes(label) : nil
            query.attributes[.applicationLabel] = .data(bytes ?? Array(label.utf8))
        }
        if let creator = options["c"] {
            guard let code = FourCharacters(creator) else {
                throw .said(FourCharacters.complaint(about: creator), exit: 1)
            }
            query.attributes[.creator] = .number(code.number)
        }
        if let label = options["l"] { query.attributes[.label] = .string(label) }
        for use in uses where options.has(use.letter) { query.attributes[use.name] = .number(1) }
        // Keys here have neither attribute, so no key matches.
        if options.has("D") || options.has("j") { query.references = [] }
        return query
    }
}
