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

/// Attributed items, by their pairs: the same ones are as the keychain has it
/// (`Attributes.isSameItem`).
struct AttributedItems {
    private struct Key: Hashable {
        let pairs: Attributes
        /// nil: of any, for items that have none.
        let schema: AttributeValue?
        let isAny: Bool
    }

    private var references: [Key: ItemReference?] = [:]

    /// False where one that is the same is there already.
    @discardableResult
    mutating func insert(_ attributes: Attributes, _ reference: ItemReference? = nil) -> Bool {
        guard find(attributes) == nil else { return false }
        let pairs = attributes.tellingPairs
        let keys = [
            Key(pairs: pairs, schema: attributes.tellingSchema, isAny: false),
            Key(pairs: pairs, schema: nil, isAny: true),
        ]
        for key in keys where references[key] == nil {
            references.updateValue(reference, forKey: key)
        }
        return true
    }

    /// nil where there is none that is the same; within, nil for one that has no reference yet.
    func find(_ attributes: Attributes) -> ItemReference?? {
        let pairs = attributes.tellingPairs
        guard let schema = attributes.tellingSchema else {
            return references[Key(pairs: pairs, schema: nil, isAny: true)]
        }
        return references[Key(pairs: pairs, schema: schema, isAny: false)]
            ?? references[Key(pairs: pairs, schema: nil, isAny: false)]
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
    /// Of the class `attributed`, what the keychain has.
    let attributed: AttributedItems

    init(
        _ origin: ImportOrigin, into keychain: Keychain, beside attributed: AttributedItems,
        _ progress: ProgressBar
    ) throws(CommandFailure) {
        let existing = try origin.format.isAttributed ? [] : Self.existing(in: keychain)
        var seen: Set<ImportKey> = []
        var seenAttributed = AttributedItems()
        // `self` is not there yet for the closures to fill.
        var plan = Lists()
        try origin.read(
            { item throws(CommandFailure) in
                let name = item.name
                let (isNew, isThere): (Bool, Bool)
                if item.itemClass == .attributed {
                    isNew = seenAttributed.insert(item.attributes)
                    isThere = attributed.find(item.attributes) != nil
                } else {
                    let key = ImportKey(item.itemClass, item.attributes)
                    isNew = seen.insert(key).inserted
                    isThere = existing.contains(key)
                }
                if !isNew {
                    plan.repeated.add("\(name) (\(item.place))")
                } else if isThere {
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
        self.attributed = attributed
    }

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

extension AttributedItems {
    /// All that the keychain has, other programs' items, too. To list them asks for the user, each time.
    static func existing(in keychain: Keychain) throws(CommandFailure) -> AttributedItems {
        var query = ItemQuery(.attributed)
        query.keychain = keychain.name
        query.limit = nil
        query.returnFields = [.attributes, .persistentReference]
        var items = AttributedItems()
        for item in try keychain.items(query, to: ImportOrigin.task) {
            items.insert(item.attributes, item.reference)
        }
        return items
    }
}

extension ImportedItem {
    /// Where the source has it.
    var place: String { itemClass == .attributed ? "item \(line)" : "line \(line)" }

    /// As people name it.
    var name: String {
        if itemClass == .attributed { return attributedName }
        func text(_ name: AttributeName) -> String {
            if case .string(let text)? = attributes[name] { text } else { "" }
        }
        var place = itemClass == .internetPassword ? text(.server) : text(.service)
        if case .number(let port)? = attributes[.port], port > 0 { place += ":\(port)" }
        let account = text(.account)
        return account.isEmpty ? place : place + "/" + account
    }

    private var attributedName: String {
        if case .string(let label)? = attributes[.label], !label.isEmpty { return label }
        guard case .string(let schema)? = attributes[.schema] else { return place }
        return "\(schema) (\(place))"
    }
}
