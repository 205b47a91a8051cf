// SPDX-License-Identifier: Apache-2.0
internal import KeychainModel
internal import KeychainSecrets
internal import SecretJSON
internal import Terminal

/// `aws-credential-keychain`: the `credential_process` of AWS' tools and libraries, and a way to
/// store their keys.
struct AWSHelper: Helper {
    static let name = "aws-credential-keychain"
    static let usage = """
        Usage: aws-credential-keychain get [PROFILE]
               aws-credential-keychain store [PROFILE] [<FILE.json]
               aws-credential-keychain erase [PROFILE]
               aws-credential-keychain list
        store asks for the keys, or reads JSON from standard input, as aws sts and aws iam write it.
        In ~/.aws/config:
            [profile work]
            credential_process = aws-credential-keychain get work

        """

    private static let service = "aws-credentials"
    private static let identifier = "AccessKeyId"
    private static let secret = "SecretAccessKey"
    private static let optional = ["SessionToken", "Expiration"]
    /// The names around the keys in aws(1)'s JSON.
    private static let wrappers = ["Credentials", "AccessKey"]

    let session: HelperSession

    func run(_ arguments: [String]) throws(HelperFailure) {
        guard let action = arguments.first, arguments.count <= 2 else { throw .usage }
        let profile = arguments.count == 2 ? arguments[1] : "default"
        switch action {
        case "get": try get(profile)
        case "store": try store(profile)
        case "erase": try session.items.delete(.genericPassword, Self.attributes(profile))
        case "list" where arguments.count == 1: try list()
        default: throw .usage
        }
    }

    private static func attributes(_ profile: String) -> Attributes {
        [.service: .string(service), .account: .string(profile)]
    }

    private func get(_ profile: String) throws(HelperFailure) {
        let found = try session.items.first(.genericPassword, Self.attributes(profile))
        guard let stored = found?.secret else {
            throw .unsupported(
                "there are no keys for “\(profile)”; aws-credential-keychain store keeps some")
        }
        guard let value = try? SecretJSONReader.value(of: stored, .request),
            let keys = Self.keys(value)
        else {
            throw .unsupported("what the keychain has for “\(profile)” are no keys of AWS")
        }
        var text = SecretText(#"{"Version":1"#)
        for (name, value) in keys {
            text.append(",\"\(name)\":")
            text.append(json: value)
        }
        text.append("}\n")
        try session.answer(text)
    }

    /// nil where a required key is missing or empty.
    private static func keys(_ value: SecretJSONValue) -> [(name: String, value: HeldSecret)]? {
        let value = wrappers.lazy.compactMap { value[$0] }.first ?? value
        var keys: [(name: String, value: HeldSecret)] = []
        for name in [identifier, secret] {
            guard let key = value.secret(name), key.bytes.count > 0 else { return nil }
            keys.append((name, key))
        }
        for name in optional {
            if let key = value.secret(name), key.bytes.count > 0 { keys.append((name, key)) }
        }
        return keys
    }

    private func store(_ profile: String) throws(HelperFailure) {
        let keys = StandardInput.isTerminal ? try asked(profile) : try piped()
        var attributes = Self.attributes(profile)
        attributes[.label] = .string("AWS keys of \(profile)")
        try session.items.put(
            .genericPassword, attributes, secret: SecretText(object: keys).joined())
    }

    private func piped() throws(HelperFailure) -> [(name: String, value: HeldSecret)] {
        guard let keys = Self.keys(try SecretJSONValue(request: try session.request())) else {
            throw .badInput("the JSON has no AccessKeyId and SecretAccessKey")
        }
        return keys
    }

    private func asked(
        _ profile: String
    ) throws(HelperFailure) -> [(name: String, value: HeldSecret)] {
        do throws(TerminalError) {
            let terminal = try Terminal()
            let identifier = HeldSecret(
                try terminal.ask("Access key ID of \(profile): ", echo: true))
            let secret = HeldSecret(try terminal.ask("Secret access key: ", echo: false))
            guard identifier.bytes.count > 0, secret.bytes.count > 0, identifier.isText,
                secret.isText
            else { throw TerminalError.cancelled }
            return [(Self.identifier, identifier), (Self.secret, secret)]
        } catch { throw HelperFailure(error) }
    }

    private func list() throws(HelperFailure) {
        let found = try session.items.listed(
            .genericPassword, [.service: .string(Self.service)])
        let names = found.compactMap { $0.text(.account) }.sorted()
        try session.answer(names.map { PlainText.line($0) + "\n" }.joined())
    }
}
