// SPDX-License-Identifier: Apache-2.0
internal import KeychainImport
internal import KeychainModel
internal import KeychainSecrets
internal import MessageBus

/// Reads the items of a program that offers org.freedesktop.secrets, with calls that every such
/// program has. Nothing is changed, apart from unlocking, for which the program may ask its user.
struct ServiceSource {
    let name: String
    let address: String
    /// The last element of its path, or its label; nil means all collections but the one in memory.
    let collection: String?

    private static let path = "/org/freedesktop/secrets"
    private static let service = "org.freedesktop.Secret.Service"
    private static let collectionInterface = "org.freedesktop.Secret.Collection"
    private static let item = "org.freedesktop.Secret.Item"
    /// The collection in memory, which ends with its program.
    private static let inMemory = "session"
    private static let mostCollections = 1000
    private static let mostItems = 100_000

    /// `put` gets each item, and at last the end or the error.
    func run(_ put: (ImportMessage) -> Bool) {
        do throws(ImportError) {
            try read(put)
            _ = put(.finished)
        } catch { _ = put(.failed(error)) }
    }

    private func read(_ put: (ImportMessage) -> Bool) throws(ImportError) {
        guard let calls = ServiceCalls(name: name, address: address) else { throw .noService }
        guard try !calls.isOwn() else { throw .ownService }
        let session = try SecretTransfer(calls)
        let collections = try collections(calls)
        var locked: [String] = []
        var number = 0
        for path in collections {
            guard try unlock(path, calls) else {
                locked.append(path)
                continue
            }
            for item in try paths("Items", path, Self.collectionInterface, Self.mostItems, calls) {
                number += 1
                guard number <= Self.mostItems else { throw .tooLarge }
                guard put(try message(item, number, session, calls)) else { throw .inputOutput }
            }
        }
        guard locked.count < collections.count else { throw .lockedCollection }
        for path in locked {
            let label = label(path, calls) ?? ""
            let name = label.isEmpty ? Self.element(path) : label
            guard put(.skipping("collection \(name)", .locked)) else { throw .inputOutput }
        }
    }

    // MARK: Collections

    private func collections(_ calls: ServiceCalls) throws(ImportError) -> [String] {
        let all = try paths("Collections", Self.path, Self.service, Self.mostCollections, calls)
        var found: [String] = []
        for path in all {
            let last = Self.element(path)
            guard let collection else {
                if last != Self.inMemory { found.append(path) }
                continue
            }
            if last == collection || label(path, calls) == collection { found.append(path) }
        }
        guard !found.isEmpty else { throw .noCollection }
        return found
    }

    private static func element(_ path: String) -> String {
        path.split(separator: "/").last.map(String.init) ?? ""
    }

    /// nil where the service does not tell it.
    private func label(_ path: String, _ calls: ServiceCalls) -> String? {
        try? calls.property("Label", "s", path, Self.collectionInterface) {
            message throws(BusReadError) in
            try message.text(atMost: AttributedLimits.longestLabel)
        }
    }

    private func paths(
        _ property: String, _ path: String, _ interface: String, _ most: Int,
        _ calls: ServiceCalls
    ) throws(ImportError) -> [String] {
        var found: [String] = []
        try calls.property(property, "ao", path, interface) { message throws(BusReadError) in
            try message.each("o") { () throws(BusReadError) in
                guard found.count < most else { throw .tooLong }
                found.append(try message.path(atMost: ServiceCalls.longestPath))
            }
        }
        return found
    }

    /// Unlocks the object, for which its program may ask the user; returns whether it is open now.
    private func unlock(_ path: String, _ calls: ServiceCalls) throws(ImportError) -> Bool {
        let (isOpen, prompt) = try calls.ask(
            Self.path, Self.service, "Unlock", [.paths([path])], "aoo"
        ) { message throws(BusReadError) in
            var isOpen = false
            try message.each("o") { () throws(BusReadError) in
                if try message.path(atMost: ServiceCalls.longestPath) == path { isOpen = true }
            }
            return (isOpen, try message.path(atMost: ServiceCalls.longestPath))
        }
        if isOpen || prompt == "/" { return isOpen }
        return try calls.prompt(prompt)
    }

    // MARK: Items

    private func message(
        _ path: String, _ number: Int, _ session: SecretTransfer, _ calls: ServiceCalls
    ) throws(ImportError) -> ImportMessage {
        var item = AttributedItem(number: number, secret: HeldSecret(SecretBytes(copying: [])))
        do throws(ServiceRefusal) {
            try read(path, into: &item, calls)
            var given = try session.secret(of: path)
            // Some services lock single items.
            if given == nil, try unlockItem(path, calls) { given = try session.secret(of: path) }
            guard let given else { return item.skipped(.notGiven) }
            item.secret = given.secret
            item.contentType = given.contentType
            return item.message
        } catch {
            switch error {
            case .tooLong: return item.skipped(.tooLarge)
            case .refused: return item.skipped(.notGiven)
            case .broken: throw .strangeService
            }
        }
    }

    private func unlockItem(_ path: String, _ calls: ServiceCalls) throws(ServiceRefusal) -> Bool {
        do throws(ImportError) { return try unlock(path, calls) } catch { throw .broken }
    }

    private func read(
        _ path: String, into item: inout AttributedItem, _ calls: ServiceCalls
    ) throws(ServiceRefusal) {
        var read = item
        var type = ""
        try calls.properties(path, Self.item) { name, contents, message throws(BusReadError) in
            switch (name, contents) {
            case ("Label", "s"):
                read.label = try message.text(atMost: AttributedLimits.longestLabel)
            case ("Type", "s"): type = try message.text(atMost: AttributedLimits.longestValue)
            case ("Created", "t"): read.created = try message.uint64()
            case ("Modified", "t"): read.modified = try message.uint64()
            case ("Attributes", "a{ss}"): try Self.readPairs(message, into: &read)
            default: try message.skip(contents)
            }
        }
        read.take(type: type)
        item = read
    }

    private static func readPairs(
        _ message: BusMessage, into item: inout AttributedItem
    ) throws(BusReadError) {
        try message.each("{ss}") { () throws(BusReadError) in
            guard item.pairs.count < AttributedLimits.mostPairs else { throw .tooLong }
            try message.entry("ss") { () throws(BusReadError) in
                let name = try message.text(atMost: AttributedLimits.longestName)
                let value = try message.text(atMost: AttributedLimits.longestValue)
                item.pairs[.pair(name)] = .string(value)
            }
        }
    }
}
