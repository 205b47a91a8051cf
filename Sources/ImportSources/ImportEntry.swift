// SPDX-License-Identifier: Apache-2.0
internal import KeychainImport
internal import KeychainModel
internal import KeychainSecrets

/// An entry of a password store: its password becomes an item, and what else of it may be secret
/// becomes others, so that nothing of it is shown where items are listed.
struct ImportEntry {
    var line: Int
    var title = ""
    var address = ""
    /// In place of an address, where no kind of connection is known.
    var host = ""
    var account = ""
    /// What the entry lies in.
    var folder = ""
    var password: HeldSecret?
    var oneTimePassword: HeldSecret?
    /// Notes, and fields by their names.
    var notes: HeldSecret?

    init(line: Int) { self.line = line }

    /// None where nothing of it is secret.
    var items: [ImportedItem] {
        var items: [ImportedItem] = []
        if let password, password.bytes.count > 0 { items.append(passwordItem(password)) }
        for (secret, kind) in [(oneTimePassword, "one-time password"), (notes, "notes")] {
            guard let secret, secret.bytes.count > 0 else { continue }
            items.append(further(secret, kind))
        }
        return items
    }

    private var webAddress: WebAddress? {
        host.isEmpty ? WebAddress(address) : WebAddress(host: host)
    }

    /// What people know it by.
    private var name: String {
        if !title.isEmpty { return title }
        return webAddress?.server ?? (address.isEmpty ? account : address)
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

    private func further(_ secret: HeldSecret, _ kind: String) -> ImportedItem {
        let attributes: Attributes = [
            .service: .string("\(name) (\(kind))"), .itemDescription: .string(kind),
        ]
        return item(.genericPassword, attributes, secret)
    }

    private func item(
        _ itemClass: ItemClass, _ attributes: Attributes, _ secret: HeldSecret
    ) -> ImportedItem {
        var attributes = attributes
        if !account.isEmpty { attributes[.account] = .string(account) }
        if !folder.isEmpty, attributes[.comment] == nil { attributes[.comment] = .string(folder) }
        return ImportedItem(
            line: line, itemClass: itemClass, attributes: attributes, secret: secret)
    }
}
