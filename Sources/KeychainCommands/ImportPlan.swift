// SPDX-License-Identifier: Apache-2.0
internal import KeychainImport
internal import KeychainMessages
internal import KeychainModel

/// What makes two passwords the same item, in a keychain: of a million of them some bytes each.
struct ImportKey: Hashable {
    private let hash: Int

    private static let generic: [AttributeName] = [.service, .account]
    private static let internet: [AttributeName] = [
        .server, .account, .networkProtocol, .port, .path,
    ]

    init(_ itemClass: ItemClass, _ attributes: Attributes) {
        var hasher = Hasher()
        hasher.combine(itemClass.code)
        for name in itemClass == .internetPassword ? Self.internet : Self.generic {
            let value = attributes[name]?.comparedBytes ?? []
            // Nothing, and what the service has in its place.
            hasher.combine(value == [0x30] ? [] : value)
        }
        hash = hasher.finalize()
    }
}

/// What an import would do, from one reading of its source to the end.
struct ImportPlan {
    /// Names that are kept to be shown.
    private static let mostNames = 1000

    struct Names {
        private(set) var count = 0
        private(set) var shown: [String] = []

        mutating func add(_ name: String) {
            count += 1
            if shown.count < ImportPlan.mostNames { shown.append(name) }
        }
    }

    private(set) var new = Names()
    /// There is an item of that name.
    private(set) var clashing = Names()
    /// The source itself has it twice.
    private(set) var repeated = Names()
    /// Entries without a secret.
    private(set) var leftOut = Names()
    /// What else of the source is in no item.
    private(set) var notBrought = Names()

    init(
        _ origin: ImportOrigin, into keychain: Keychain, _ progress: ProgressBar
    ) throws(CommandFailure) {
        let existing = try Self.existing(in: keychain)
        var seen: Set<ImportKey> = []
        var plan = Lists()
        try origin.read(
            { item throws(CommandFailure) in
                let key = ImportKey(item.itemClass, item.attributes)
                let name = item.name
                if !seen.insert(key).inserted {
                    plan.repeated.add("\(name) (line \(item.line))")
                } else if existing.contains(key) {
                    plan.clashing.add(name)
                } else {
                    plan.new.add(name)
                }
                progress.step()
            },
            rest: {
                switch $0 {
                case .leftOut(let place): plan.leftOut.add(place)
                case .notBrought(let place): plan.notBrought.add(place)
                }
            })
        (new, clashing, repeated) = (plan.new, plan.clashing, plan.repeated)
        (leftOut, notBrought) = (plan.leftOut, plan.notBrought)
    }

    /// For the closures, which can't fill what is not made yet.
    private struct Lists {
        var new = Names()
        var clashing = Names()
        var repeated = Names()
        var leftOut = Names()
        var notBrought = Names()
    }

    var items: Int { new.count + clashing.count + repeated.count }

    /// Those that ask for the user are not looked at: adding tells.
    private static func existing(in keychain: Keychain) throws(CommandFailure) -> Set<ImportKey> {
        var keys: Set<ImportKey> = []
        for itemClass in [ItemClass.genericPassword, .internetPassword] {
            var query = ItemQuery(itemClass)
            query.keychain = keychain.name
            query.limit = nil
            query.synchronizable = .no
            query.returnFields = .attributes
            query.authenticationUI = .skip
            for item in try keychain.items(query, to: ImportOrigin.task) {
                keys.insert(ImportKey(itemClass, item.attributes))
            }
        }
        return keys
    }
}

extension ImportedItem {
    /// As people name it.
    var name: String {
        func text(_ name: AttributeName) -> String {
            if case .string(let text)? = attributes[name] { text } else { "" }
        }
        var place = itemClass == .internetPassword ? text(.server) : text(.service)
        if case .number(let port)? = attributes[.port], port > 0 { place += ":\(port)" }
        let account = text(.account)
        return account.isEmpty ? place : place + "/" + account
    }
}
