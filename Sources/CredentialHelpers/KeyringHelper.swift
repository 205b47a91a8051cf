// SPDX-License-Identifier: Apache-2.0
internal import KeychainModel
internal import KeychainSecrets
internal import SecretJSON

/// `keyring-credential-keychain`: the other half of the backend for Python's keyring (`python/`).
///
/// It reads one line of JSON and writes one: `{"v":1,"do":"get","service":…,"username":…}`, where
/// `do` is `get`, `find` (any user's), `set` (with `password`) or `delete`. The answer is
/// `{"ok":true}` with `username` and `password` where some were found, or `{"error":KIND}` with
/// `message`; KIND is `not-found`, `locked` or `failed`.
struct KeyringHelper: Helper {
    static let name = "keyring-credential-keychain"
    static let usage = """
        Usage: keyring-credential-keychain
        The package keyring-keychain for Python's keyring starts it.

        """

    private static let version: Int64 = 1

    let session: HelperSession

    func run(_ arguments: [String]) throws(HelperFailure) {
        guard arguments.isEmpty else { throw .usage }
        let request = try SecretJSONValue(request: try session.request())
        guard request.number("v") == Self.version else {
            throw .badInput("the package speaks another version of the protocol")
        }
        guard let service = request.plainText("service") else {
            throw .badInput("the request has no service, or one that is no name")
        }
        let action = request.plainText("do")
        var attributes: Attributes = [.service: .string(service)]
        if action != "find" {
            guard let username = request.plainText("username") else {
                throw .badInput("the request has no user name, or one that is none")
            }
            attributes[.account] = .string(username)
        }
        switch action {
        case "get", "find": try get(attributes)
        case "set":
            guard let password = request.secret("password") else {
                throw .badInput("the request has no password")
            }
            attributes[.label] = .string(service)
            try session.items.put(.genericPassword, attributes, secret: password)
            try session.answer("{\"ok\":true}\n")
        case "delete":
            try session.items.delete(.genericPassword, attributes)
            try session.answer("{\"ok\":true}\n")
        default: throw .badInput("the request asks for nothing that is known here")
        }
    }

    private func get(_ attributes: Attributes) throws(HelperFailure) {
        guard let item = try session.items.first(.genericPassword, attributes),
            let password = item.secret
        else { throw .notFound }
        guard password.isText else { throw .unsupported("the password is no text") }
        var text = SecretText(#"{"ok":true,"username":"#)
        text.append(json: item.text(.account) ?? "")
        text.append(#","password":"#)
        text.append(json: password)
        text.append("}\n")
        try session.answer(text)
    }

    func tell(_ failure: HelperFailure) -> Bool {
        guard failure != .usage, failure != .unwritten else { return false }
        var text = SecretText(#"{"error":"# + "\"\(Self.kind(failure))\"" + #","message":"#)
        text.append(json: failure.sentence)
        text.append("}\n")
        return (try? session.answer(text)) != nil
    }

    private static func kind(_ failure: HelperFailure) -> String {
        switch failure {
        case .notFound: "not-found"
        case .keychain(.state(.locked)), .keychain(.state(.noSession)),
            .keychain(.refused(.interactionNotAllowed)), .keychain(.refused(.cancelled)):
            "locked"
        default: "failed"
        }
    }
}
