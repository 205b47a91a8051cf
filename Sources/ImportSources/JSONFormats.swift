// SPDX-License-Identifier: Apache-2.0
internal import KeychainImport
internal import KeychainSecrets

/// Docker's `config.json`: for each registry user and password in base64, or an identity token.
enum DockerText {
    static func read(_ buffer: SecretBuffer, _ put: ImportSource.Put) throws(ImportError) {
        let (json, root) = try JSONText.value(buffer)
        for (registry, value) in root["auths"]?.members ?? [] {
            var entry = ImportEntry(line: value.line(json))
            entry.address = registry.contains("://") ? registry : "https://" + registry
            if case .text(let range)? = value["auth"], !range.isEmpty {
                guard let decoded = Base64.decoded(buffer, range),
                    let colon = decoded.first(0x3A, in: 0..<decoded.count)
                else { throw .malformed(line: entry.line) }
                entry.account = decoded.text(0..<colon) ?? ""
                // Docker pads short passwords with zeros.
                var end = decoded.count
                while end > colon + 1, decoded.byte(end - 1) == 0 { end -= 1 }
                entry.password = decoded.secret(colon + 1..<end)
            } else {
                entry.account = value["username"]?.text(json) ?? ""
                entry.password = value["password"]?.secret(json)
            }
            let token = value["identitytoken"] ?? value["registrytoken"]
            if let token = token?.secret(json) {
                if entry.password?.bytes.count ?? 0 == 0 {
                    entry.password = token
                    if entry.account.isEmpty { entry.account = "<token>" }
                } else {
                    let notes = NoteLines()
                    notes.add(token, name: "identity token")
                    entry.notes = notes.contents
                }
            }
            try put(entry)
        }
    }
}

enum Base64 {
    /// nil for what is none.
    static func decoded(_ buffer: SecretBuffer, _ range: Range<Int>) -> SecretBuffer? {
        let decoded = SecretBuffer(limit: max(1, range.count))
        var bits: UInt32 = 0
        var count = 0
        for position in range {
            let byte = buffer.byte(position)
            if byte == UInt8(ascii: "=") { break }
            guard let value = value(byte) else { return nil }
            bits = bits << 6 | UInt32(value)
            count += 6
            if count >= 8 {
                count -= 8
                _ = decoded.append(UInt8(truncatingIfNeeded: bits >> UInt32(count)))
            }
        }
        return decoded
    }

    private static func value(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): byte - UInt8(ascii: "A")
        case UInt8(ascii: "a")...UInt8(ascii: "z"): byte - UInt8(ascii: "a") + 26
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0") + 52
        case UInt8(ascii: "+"), UInt8(ascii: "-"): 62
        case UInt8(ascii: "/"), UInt8(ascii: "_"): 63
        default: nil
        }
    }
}

/// Bitwarden's export in JSON, as it is or with a password of its own.
enum BitwardenText {
    static func read(_ buffer: SecretBuffer, _ put: ImportSource.Put) throws(ImportError) {
        let (json, root) = try JSONText.value(buffer)
        if case .bool(true)? = root["encrypted"] {
            if case .bool(true)? = root["passwordProtected"] { throw .encryptedByPassword }
            throw .encryptedForAccount
        }
        guard case .list(let items)? = root["items"] else { throw .malformed(line: 1) }
        var folders: [String: String] = [:]
        for folder in (root["folders"]?.elements ?? []) + (root["collections"]?.elements ?? []) {
            guard let id = folder["id"]?.text(json) else { continue }
            folders[id] = folder["name"]?.text(json)
        }
        for item in items { try put(entry(item, json, folders)) }
    }

    private static func entry(
        _ item: JSONText.Value, _ json: JSONText, _ folders: [String: String]
    ) -> ImportEntry {
        var entry = ImportEntry(line: item.line(json))
        let notes = NoteLines()
        entry.title = item["name"]?.text(json) ?? ""
        entry.folder = item["folderId"]?.text(json).flatMap { folders[$0] } ?? ""
        if let login = item["login"] {
            entry.account = login["username"]?.text(json) ?? ""
            entry.password = login["password"]?.secret(json)
            entry.oneTimePassword = login["totp"]?.secret(json)
            for passkey in login["fido2Credentials"]?.elements ?? [] {
                for (name, value) in passkey.members {
                    if let secret = value.secret(json) { notes.add(secret, name: name) }
                }
            }
            for (number, address) in (login["uris"]?.elements ?? []).enumerated() {
                guard case .text(let range)? = address["uri"] else { continue }
                if number == 0 {
                    entry.take(SplitAddress(json, range), notes)
                } else {
                    notes.add(json.secret(range), name: "address")
                }
            }
        }
        if let text = item["notes"]?.secret(json) { notes.add(text) }
        for kind in ["card", "identity", "sshKey"] {
            for (name, value) in item[kind]?.members ?? [] {
                if let secret = value.secret(json) { notes.add(secret, name: name) }
            }
        }
        for field in item["fields"]?.elements ?? [] {
            guard let secret = field["value"]?.secret(json) else { continue }
            notes.add(secret, name: field["name"]?.text(json))
        }
        for old in item["passwordHistory"]?.elements ?? [] {
            if let secret = old["password"]?.secret(json) {
                notes.add(secret, name: "earlier password")
            }
        }
        entry.notes = notes.contents
        return entry
    }
}

/// `export.data` of 1Password's 1PUX.
enum OnePasswordText {
    static func read(_ buffer: SecretBuffer, _ put: ImportSource.Put) throws(ImportError) {
        let (json, root) = try JSONText.value(buffer)
        guard case .list(let accounts)? = root["accounts"] else { throw .malformed(line: 1) }
        for account in accounts {
            for vault in account["vaults"]?.elements ?? [] {
                let name = vault["attrs"]?["name"]?.text(json) ?? ""
                for item in vault["items"]?.elements ?? [] {
                    try put(entry(item["item"] ?? item, json, vault: name))
                }
            }
        }
    }

    private static func entry(
        _ item: JSONText.Value, _ json: JSONText, vault: String
    ) -> ImportEntry {
        var entry = ImportEntry(line: item.line(json))
        let notes = NoteLines()
        entry.folder = vault
        entry.title = item["overview"]?["title"]?.text(json) ?? ""
        let details = item["details"]
        for field in details?["loginFields"]?.elements ?? [] {
            let secret = field["value"]?.secret(json)
            switch field["designation"]?.text(json) {
            case "username": entry.account = field["value"]?.text(json) ?? ""
            case "password": entry.password = secret
            default:
                if let secret { notes.add(secret, name: field["name"]?.text(json)) }
            }
        }
        if entry.password == nil { entry.password = details?["password"]?.secret(json) }
        if case .text(let range)? = item["overview"]?["url"] {
            entry.take(SplitAddress(json, range), notes)
        }
        if let text = details?["notesPlain"]?.secret(json) { notes.add(text) }
        for section in details?["sections"]?.elements ?? [] {
            for field in section["fields"]?.elements ?? [] {
                take(field, json, &entry, notes)
            }
        }
        for old in details?["passwordHistory"]?.elements ?? [] {
            if let secret = old["value"]?.secret(json) {
                notes.add(secret, name: "earlier password")
            }
        }
        entry.notes = notes.contents
        return entry
    }

    private static func take(
        _ field: JSONText.Value, _ json: JSONText, _ entry: inout ImportEntry, _ notes: NoteLines
    ) {
        for (kind, value) in field["value"]?.members ?? [] {
            if kind == "totp", entry.oneTimePassword == nil {
                entry.oneTimePassword = value.secret(json)
            } else if let secret = value.secret(json) {
                notes.add(secret, name: field["title"]?.text(json))
            } else {
                // An address, a card's month: fields of their own.
                for (name, part) in value.members {
                    if let secret = part.secret(json) { notes.add(secret, name: name) }
                }
            }
        }
    }
}

extension SplitAddress {
    fileprivate init(_ json: JSONText, _ range: Range<Int>) {
        let text = SecretBuffer(limit: max(1, range.count))
        _ = text.append(json.secret(range).bytes)
        self.init(text, 0..<text.count)
    }
}
