// SPDX-License-Identifier: Apache-2.0
internal import KeychainModel
internal import KeychainSecrets
internal import SecretJSON
internal import Terminal

/// `cargo-credential-keychain`: cargo's protocol for credential providers, version 1, in lines of
/// JSON: the program sends the versions that it supports, then cargo sends requests, and each has
/// an answer.
struct CargoHelper: Helper {
    static let name = "cargo-credential-keychain"
    static let usage = """
        Usage: cargo-credential-keychain --cargo-plugin
        cargo starts it; in ~/.cargo/config.toml:
            [registry]
            global-credential-providers = ["cargo-credential-keychain"]

        """

    private static let version: Int64 = 1
    /// The most bytes of a token, which is one line.
    private static let longestToken = 60 * 1024

    let session: HelperSession

    /// The error that cargo gets instead of an answer.
    private enum Mistake {
        static let notFound = #"{"kind":"not-found"}"#
        static let address = #"{"kind":"url-not-supported"}"#
        static let operation = #"{"kind":"operation-not-supported"}"#
    }

    func run(_ arguments: [String]) throws(HelperFailure) {
        guard arguments.first == "--cargo-plugin" else { throw .usage }
        try session.answer("{\"v\":[\(Self.version)]}\n")
        while let line = try session.requestLine() {
            guard line.bytes.count > 0 else { continue }
            try answer(line)
        }
    }

    func tell(_ failure: HelperFailure) -> Bool {
        guard failure != .usage, failure != .unwritten else { return false }
        return (try? session.answer(Self.other(failure))) != nil
    }

    private func answer(_ line: HeldSecret) throws(HelperFailure) {
        let reply: SecretText
        do throws(HelperFailure) {
            reply = try self.reply(try SecretJSONValue(request: line))
        } catch { reply = Self.other(error) }
        try session.answer(reply)
    }

    private static func mistake(_ kind: String) -> SecretText {
        SecretText("{\"Err\":\(kind)}\n")
    }

    private static func other(_ failure: HelperFailure) -> SecretText {
        var text = SecretText(#"{"Err":{"kind":"other","message":"#)
        text.append(json: failure.sentence)
        text.append(#","caused-by":[]}}"# + "\n")
        return text
    }

    private func reply(_ request: SecretJSONValue) throws(HelperFailure) -> SecretText {
        guard request.number("v") == Self.version else {
            throw .badInput("cargo speaks another version of the protocol")
        }
        guard let kind = request.plainText("kind") else {
            throw .badInput("the request has no kind")
        }
        guard ["get", "login", "logout"].contains(kind) else {
            return Self.mistake(Mistake.operation)
        }
        guard let registry = request["registry"], let index = registry.plainText("index-url"),
            index.contains("://")
        else { return Self.mistake(Mistake.address) }
        let service: Attributes = [
            .service: .string("cargo-registry:" + index), .account: .string(""),
        ]
        switch kind {
        case "get": return try get(service)
        case "login":
            try login(service, registry, request)
            return SecretText(#"{"Ok":{"kind":"login"}}"# + "\n")
        default: return try logout(service)
        }
    }

    private func get(_ service: Attributes) throws(HelperFailure) -> SecretText {
        guard let token = try session.items.first(.genericPassword, service)?.secret else {
            return Self.mistake(Mistake.notFound)
        }
        guard token.isText else { throw .unsupported("the token is no text") }
        var text = SecretText(#"{"Ok":{"kind":"get","token":"#)
        text.append(json: token)
        // A token serves every operation as long as this cargo runs.
        text.append(#","cache":"session","operation_independent":true}}"# + "\n")
        return text
    }

    private func login(
        _ service: Attributes, _ registry: SecretJSONValue, _ request: SecretJSONValue
    ) throws(HelperFailure) {
        let name = registry.plainText("name") ?? "the registry"
        let token: HeldSecret
        if let given = request.secret("token") {
            token = given
        } else {
            token = try asked(name, request.plainText("login-url"))
        }
        guard token.bytes.count > 0 else { throw .badInput("the token is empty") }
        guard token.bytes.count <= Self.longestToken, !token.contains(0x0A), !token.contains(0x0D)
        else { throw .badInput("the token is too long, or has more than one line") }
        var attributes = service
        attributes[.label] = .string("Cargo token of \(name)")
        try session.items.put(.genericPassword, attributes, secret: token)
    }

    private func asked(_ name: String, _ address: String?) throws(HelperFailure) -> HeldSecret {
        do throws(TerminalError) {
            let terminal = try Terminal()
            if let address { terminal.say("A token for \(name) is at \(address)") }
            return HeldSecret(try terminal.ask("Token for \(name): ", echo: false))
        } catch { throw HelperFailure(error) }
    }

    private func logout(_ service: Attributes) throws(HelperFailure) -> SecretText {
        do throws(HelperFailure) {
            try session.items.delete(.genericPassword, service)
            return SecretText(#"{"Ok":{"kind":"logout"}}"# + "\n")
        } catch {
            guard error == .notFound else { throw error }
            return Self.mistake(Mistake.notFound)
        }
    }
}
