// SPDX-License-Identifier: Apache-2.0
internal import KeychainModel
internal import KeychainSecrets
internal import SecretJSON
internal import Terminal

/// `docker-credential-keychain`: the protocol of docker's credential helpers, which podman, skopeo
/// and buildah use, too. Errors are lines on standard output, in the texts that these tools look
/// for.
struct DockerHelper: Helper {
    static let name = "docker-credential-keychain"
    static let usage = "Usage: docker-credential-keychain <store|get|erase|list|version>\n"

    private static let version = "0.1.0"
    /// `list` finds the items by this label.
    private static let label = "Docker Credentials"
    private static let notFound = "credentials not found in native keychain"
    private static let noAddress = "no credentials server URL"
    private static let noUsername = "no credentials username"

    let session: HelperSession

    func run(_ arguments: [String]) throws(HelperFailure) {
        guard arguments.count == 1 else { throw .usage }
        switch arguments[0] {
        case "store": try store()
        case "get": try get()
        case "erase": try erase()
        case "list": try list()
        case "version", "--version", "-v":
            try session.answer("docker-credential-keychain \(Self.version)\n")
        default: throw .usage
        }
    }

    func tell(_ failure: HelperFailure) -> Bool {
        switch failure {
        case .usage: session.showUsage(Self.usage, to: .output)
        case .notFound: session.showUsage(Self.notFound + "\n", to: .output)
        case .unwritten: return false
        default: session.showUsage(PlainText.line(failure.sentence) + "\n", to: .output)
        }
        return true
    }

    private func store() throws(HelperFailure) {
        let given = try SecretJSONValue(request: try session.request())
        guard let address = given.plainText("ServerURL"), !address.isEmpty else {
            throw .badInput(Self.noAddress)
        }
        guard let username = given.plainText("Username"), !username.isEmpty else {
            throw .badInput(Self.noUsername)
        }
        guard let secret = given.secret("Secret") else {
            throw .badInput("no credentials secret")
        }
        var attributes = try Self.place(address).attributes(account: username)
        attributes[.label] = .string(Self.label)
        // The address as docker wrote it, which `list` returns.
        attributes[.comment] = .string(address)
        // A registry has one login: another user's item is replaced, but only after the new one is
        // stored.
        let others = try items(address).filter { $0.text(.account) != username }
        try session.items.put(.internetPassword, attributes, secret: secret)
        try delete(others)
    }

    private func get() throws(HelperFailure) {
        let address = try self.address()
        guard let item = try first(address), let secret = item.secret else { throw .notFound }
        guard secret.isText else { throw .unsupported("the secret is no text") }
        var text = SecretText(object: [
            ("ServerURL", HeldSecret(text: address)),
            ("Username", HeldSecret(text: item.text(.account) ?? "")), ("Secret", secret),
        ])
        text.append("\n")
        try session.answer(text)
    }

    private func erase() throws(HelperFailure) {
        let address = try address()
        let found = try items(address)
        guard !found.isEmpty else { throw .notFound }
        try delete(found)
        guard try items(address).isEmpty else {
            throw .unsupported(
                "a login of another program's is still there; only that one can delete it")
        }
    }

    /// Deletes only the helper's own items, and none of those that other programs share with it.
    private func delete(_ items: [Item]) throws(HelperFailure) {
        for item in items {
            do throws(HelperFailure) { try session.items.delete(item) } catch {
                guard error == .notFound else { throw error }
            }
        }
    }

    private func list() throws(HelperFailure) {
        let found = try session.items.listed(
            .internetPassword, [.label: .string(Self.label)])
        var text = SecretText(
            object: found.compactMap { item in
                Self.address(of: item).map {
                    ($0, HeldSecret(text: item.text(.account) ?? ""))
                }
            })
        text.append("\n")
        try session.answer(text)
    }

    /// One line; blanks around the address don't belong to it.
    private func address() throws(HelperFailure) -> String {
        guard let text = try session.request().plainText else {
            throw .badInput("the server URL is no text, or too long")
        }
        let address = text.trimmed
        guard !address.isEmpty else { throw .badInput(Self.noAddress) }
        guard !address.contains(where: \.isNewline) else {
            throw .badInput("the server URL has more than one line")
        }
        return address
    }

    private func first(_ address: String) throws(HelperFailure) -> Item? {
        for attributes in try Self.place(address).searches(account: nil) {
            if let item = try session.items.first(.internetPassword, attributes) { return item }
        }
        return nil
    }

    /// The logins for the address, with those that other programs share with the helper.
    private func items(_ address: String) throws(HelperFailure) -> [Item] {
        let place = try Self.place(address)
        var attributes = place.attributes(account: "")
        attributes[.account] = nil
        attributes[.label] = .string(Self.label)
        return try session.items.unasked(.internetPassword, attributes)
    }

    /// An address without a scheme means https.
    static func place(_ address: String) throws(HelperFailure) -> InternetPlace {
        var scheme = "https"
        var rest = address[...]
        if let found = address.firstRange(of: "://") {
            scheme = String(address[..<found.lowerBound])
            rest = address[found.upperBound...]
        }
        let host = rest.prefix { $0 != "/" }
        let path = rest.dropFirst(host.count)
        guard !host.isEmpty, !host.contains("@"),
            let place = try InternetPlace(scheme: scheme, host: String(host), path: String(path))
        else { throw .badInput("the server URL is none of a registry") }
        return place
    }

    private static func address(of item: Item) -> String? {
        if let written = item.text(.comment) { return written }
        guard let host = item.text(.server), let code = item.text(.networkProtocol),
            let scheme = InternetPlace.scheme(ofCode: code)
        else { return nil }
        let port = item.number(.port) ?? 0
        return "\(scheme)://\(host)\(port == 0 ? "" : ":\(port)")\(item.text(.path) ?? "")"
    }
}

extension String {
    /// Without blanks and line ends around it.
    var trimmed: String {
        let start = self[...].drop { $0.isWhitespace }
        guard let last = start.lastIndex(where: { !$0.isWhitespace }) else { return "" }
        return String(start[...last])
    }
}
