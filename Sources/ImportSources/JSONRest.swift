// SPDX-License-Identifier: Apache-2.0
internal import KeychainImport
internal import SecretJSON

/// The parts of a JSON source from which no item is made: names that are unknown in its format.
struct JSONRest {
    /// The lines of these parts.
    private var lines: [Int] = []

    static func ofDocker(_ root: SecretJSONValue, _ put: ImportSource.Put) throws(ImportError) {
        var rest = JSONRest()
        rest.report(root, besides: ["auths"])
        for (_, registry) in root["auths"]?.members ?? [] {
            rest.report(
                registry,
                besides: ["auth", "username", "password", "identitytoken", "registrytoken"])
            // Only one of each is imported.
            let names = registry["auth"].map(rest.isSomething) == true
            for name in names ? ["username", "password"] : [] {
                rest.report(registry[name])
            }
            if registry["identitytoken"] != nil { rest.report(registry["registrytoken"]) }
        }
        for line in rest.lines { try put(.rest(line)) }
    }

    static func ofBitwarden(_ root: SecretJSONValue, _ put: ImportSource.Put) throws(ImportError) {
        var rest = JSONRest()
        rest.report(root, besides: ["encrypted", "items", "folders", "collections"])
        for item in root["items"]?.elements ?? [] { rest.reportBitwarden(item) }
        for line in rest.lines { try put(.rest(line)) }
    }

    private mutating func reportBitwarden(_ item: SecretJSONValue) {
        // The second lines have the names without a part of a password.
        report(
            item,
            besides: [
                "name", "notes", "folderId", "login", "card", "identity", "sshKey", "fields",
                "passwordHistory", "id", "organizationId", "type", "reprompt", "favorite",
                "secureNote", "creationDate", "revisionDate", "deletedDate", "archivedDate",
            ])
        report(
            item["login"],
            besides: [
                "username", "password", "totp", "uris", "fido2Credentials", "passwordRevisionDate",
            ])
        for address in item["login"]?["uris"]?.elements ?? [] {
            report(address, besides: ["uri", "match", "uriChecksum"])
        }
        for field in item["fields"]?.elements ?? [] {
            report(field, besides: ["name", "value", "type", "linkedId"])
            reportDeep(field["value"])
        }
        for old in item["passwordHistory"]?.elements ?? [] {
            report(old, besides: ["password", "lastUsedDate"])
        }
        let shown = ["card", "identity", "sshKey"].compactMap { item[$0] }
        for object in shown + (item["login"]?["fido2Credentials"]?.elements ?? []) {
            for (_, value) in object.members { reportDeep(value) }
        }
    }

    private mutating func report(_ object: SecretJSONValue?, besides known: [String]) {
        for (name, value) in object?.members ?? [] where !known.contains(name) { report(value) }
    }

    private mutating func report(_ value: SecretJSONValue?) {
        if let value, isSomething(value) { lines.append(value.line) }
    }

    /// Reports the rest of a value, of which a text or a number is imported.
    private mutating func reportDeep(_ value: SecretJSONValue?) {
        switch value?.content {
        case .text, .number, nil: return
        default: report(value)
        }
    }

    private func isSomething(_ value: SecretJSONValue) -> Bool {
        switch value.content {
        case .null, .flag(false): false
        case .text(let text): !text.isEmpty
        case .object(let members): !members.isEmpty
        case .list(let values): !values.isEmpty
        case .number, .flag: true
        }
    }
}
