// SPDX-License-Identifier: Apache-2.0
internal import KeychainImport
internal import KeychainSecrets

/// The roles of a CSV file's columns, by its first line, for exports of Chrome, Edge, Firefox,
/// Safari, KeePass, KeePassXC, Bitwarden, 1Password and LastPass.
struct CSVColumns {
    private enum Role { case title, address, account, password, oneTime, notes, folder, none }

    private static let roles: [String: Role] = [
        "name": .title, "title": .title, "account": .title,
        "url": .address, "urls": .address, "website": .address, "web site": .address,
        "login_uri": .address, "hostname": .address, "login_url": .address,
        "username": .account, "user name": .account, "login_username": .account,
        "login name": .account, "user": .account, "login": .account,
        "password": .password, "login_password": .password,
        "otpauth": .oneTime, "totp": .oneTime, "login_totp": .oneTime, "otp": .oneTime,
        "note": .notes, "notes": .notes, "comments": .notes, "extra": .notes,
        "group": .folder, "folder": .folder, "grouping": .folder, "tags": .folder,
        // Columns without a part of a password, which are not imported.
        "guid": .none, "timecreated": .none, "timelastused": .none, "timepasswordchanged": .none,
        "formactionorigin": .none, "icon": .none, "last modified": .none, "created": .none,
        "favorite": .none, "fav": .none, "archived": .none, "type": .none, "reprompt": .none,
    ]

    private let names: [String]
    private let columns: [Role?]

    /// The first column of each role counts; a second one becomes a field with its name.
    init(_ header: CSVReader.Row) throws(ImportError) {
        names = header.fields.indices.map { header.text($0) }
        var columns: [Role?] = []
        for name in names {
            let role = Self.roles[name.lowercased()]
            let isTaken = role.map { $0 != .none && columns.contains($0) } ?? false
            columns.append(isTaken ? nil : role)
        }
        guard columns.contains(.password), columns.contains(.title) || columns.contains(.address)
        else { throw .unknownColumns }
        self.columns = columns
    }

    func entry(_ row: CSVReader.Row) throws(ImportError) -> ImportEntry {
        guard row.fields.count == columns.count else {
            throw .wrongColumns(line: row.line, found: row.fields.count, expected: columns.count)
        }
        var entry = ImportEntry(line: row.line)
        let notes = NoteLines()
        var address: SplitAddress?
        for (column, role) in columns.enumerated() where !row.fields[column].isEmpty {
            switch role {
            case .title: entry.title = row.text(column)
            case .address: address = SplitAddress(row.bytes, row.fields[column])
            case .account: entry.account = row.text(column)
            case .folder: entry.folder = row.text(column)
            case .password: entry.password = row.secret(column)
            case .oneTime: entry.oneTimePassword = row.secret(column)
            case .notes: notes.add(row.secret(column))
            case nil: notes.add(row.secret(column), name: names[column])
            case .some(.none): break
            }
        }
        // The address is last, once the other columns' values are known.
        if let address { entry.take(address, notes) }
        entry.notes = notes.contents
        return entry
    }
}

/// Secret text, collected line by line.
final class NoteLines {
    struct Contents {
        let secret: HeldSecret
        /// False where a line found no room.
        let isWhole: Bool
    }

    private let lines: SecretBuffer
    private var isWhole = true

    /// `limit` is the most bytes of all lines.
    init(limit: Int = 8 * 1024 * 1024) { lines = SecretBuffer(limit: limit) }

    func add(_ secret: HeldSecret, name: String? = nil) {
        guard secret.bytes.count > 0 else { return }
        let beginning =
            (lines.count > 0 ? "\n" : "") + (name.map { $0.isEmpty ? "" : $0 + ": " } ?? "")
        guard lines.hasRoom(beginning.utf8.count + secret.bytes.count) else {
            isWhole = false
            return
        }
        _ = lines.append(beginning)
        _ = lines.append(secret.bytes)
    }

    /// nil where no line was added.
    var contents: Contents? {
        guard lines.count > 0 || !isWhole else { return nil }
        return Contents(secret: HeldSecret(lines.contents), isWhole: isWhole)
    }
}
