// SPDX-License-Identifier: Apache-2.0
internal import KeychainImport
internal import KeychainModel
internal import KeychainSecrets

/// An entry of a password store. Its password becomes an item, and its other parts that may be
/// secret become further items, so that no list of items shows them.
struct ImportEntry {
    var line: Int
    var title = ""
    var address = ""
    /// Used instead of an address, where the kind of connection is unknown.
    var host = ""
    var account = ""
    /// The folder of the entry.
    var folder = ""
    var password: HeldSecret?
    var oneTimePassword: HeldSecret?
    /// The notes, and fields by their names.
    var notes: NoteLines.Contents?
    /// The message for an entry from which no item is made.
    private var ready: ImportMessage?

    init(line: Int) { self.line = line }

    /// The text on that line is not imported.
    static func rest(_ line: Int) -> ImportEntry {
        ImportEntry(ready: .notBrought(line: line), line: line)
    }

    /// An item that is attributed already.
    static func attributed(_ item: AttributedItem) -> ImportEntry {
        ImportEntry(ready: item.message, line: item.number)
    }

    static func skipped(_ item: AttributedItem, _ reason: ImportSkip) -> ImportEntry {
        ImportEntry(ready: item.skipped(reason), line: item.number)
    }

    private init(ready: ImportMessage, line: Int) {
        self.line = line
        self.ready = ready
    }

    /// The entry's items, and whether they are all of it.
    var messages: [ImportMessage] {
        if let ready { return [ready] }
        guard !showsPassword else { return [.notBrought(line: line)] }
        let found = items
        guard !found.isEmpty else { return [.leftOut(line: line)] }
        let storable = found.filter(\.isStorable)
        let isWhole = storable.count == found.count && notes?.isWhole != false
        return storable.map(ImportMessage.item) + (isWhole ? [] : [.notBrought(line: line)])
    }

    /// Lists of items show attributes, so an address with a password must not become one.
    private var showsPassword: Bool {
        [address, host].contains(where: SplitAddress.mayHavePassword)
            || [title, account, folder].contains {
                SplitAddress.hasScheme($0) && SplitAddress.mayHavePassword($0)
            }
    }

    /// Empty where no part of it is secret.
    private var items: [ImportedItem] {
        var items: [ImportedItem] = []
        if let password, password.bytes.count > 0 { items.append(passwordItem(password)) }
        let hasPassword = !items.isEmpty
        for (secret, kind) in [
            (oneTimePassword, "one-time password"), (notes?.secret, "notes"),
        ] {
            guard let secret, secret.bytes.count > 0 else { continue }
            items.append(further(secret, kind, withAddress: !hasPassword))
        }
        return items
    }

    private var webAddress: WebAddress? {
        host.isEmpty ? WebAddress(address) : WebAddress(host: host)
    }

    /// The name that people know it by.
    private var name: String {
        if !title.isEmpty { return title }
        if let server = webAddress?.server { return server }
        return [address, account].first { !$0.isEmpty } ?? "line \(line)"
    }

    private func passwordItem(_ password: HeldSecret) -> ImportedItem {
        guard let found = webAddress else {
            var attributes: Attributes = [.service: .string(name)]
            if !address.isEmpty, address != name { attributes[.comment] = .string(address) }
            return item(.genericPassword, attributes, password)
        }
        var attributes = found.attributes
        if !title.isEmpty { attributes[.label] = .string(title) }
        return item(.internetPassword, attributes, password)
    }

    /// `withAddress`: no other item of the entry has the address.
    private func further(
        _ secret: HeldSecret, _ kind: String, withAddress: Bool
    ) -> ImportedItem {
        var attributes: Attributes = [
            .service: .string("\(name) (\(kind))"), .itemDescription: .string(kind),
        ]
        if withAddress, !address.isEmpty, address != name {
            attributes[.comment] = .string(address)
        }
        return item(.genericPassword, attributes, secret)
    }

    private func item(
        _ itemClass: ItemClass, _ attributes: Attributes, _ secret: HeldSecret
    ) -> ImportedItem {
        var attributes = attributes
        if !account.isEmpty { attributes[.account] = .string(account) }
        if !folder.isEmpty {
            let address = if case .string(let text)? = attributes[.comment] { text } else { "" }
            attributes[.comment] = .string(address.isEmpty ? folder : "\(address) (\(folder))")
        }
        return ImportedItem(
            line: line, itemClass: itemClass, attributes: attributes, secret: secret)
    }
}
