// SPDX-License-Identifier: Apache-2.0
internal import KeychainModel
internal import KeychainSecrets

/// Items in the form of `item`: lines of names and values, or JSON.
struct ItemText {
    let showsReferences: Bool
    private static let column = 10

    func lines(_ item: Item) -> String {
        values(item).map { name, value in
            let blanks = String(repeating: " ", count: max(0, Self.column - name.utf8.count))
            return "\(name)\(blanks) : \(Self.text(value))\n"
        }.joined() + "====\n"
    }

    func json(_ items: [Item]) -> String {
        let objects = items.map { item in
            let members = values(item).map { name, value in
                "    \(Self.quoted(name)) : \(Self.json(value))"
            }
            return "  {\n\(members.joined(separator: ",\n"))\n  }"
        }
        return items.isEmpty ? "[\n\n]\n" : "[\n\(objects.joined(separator: ",\n"))\n]\n"
    }

    /// The values, sorted by their names.
    private func values(_ item: Item) -> [(String, AttributeValue)] {
        var values = item.attributes.map { ($0.key.rawValue, $0.value) }
        values.append(("class", .string(item.reference.itemClass.code)))
        values.append(("accc", .string(AccessControlText.of(item.accessControl))))
        values.append(("pdmn", .string(item.accessControl.protection.code)))
        if showsReferences { values.append(("v_PersistentRef", .data(item.reference.bytes))) }
        // Shown because the user asked for it with -g.
        if let secret = item.secret {
            values.append(("v_Data", .data(secret.bytes.releasedFromLockedMemory())))
        }
        return values.sorted { $0.0 < $1.0 }
    }

    private static func text(_ value: AttributeValue) -> String {
        switch value {
        case .string(let text): return printable(Array(text.utf8)) ? text : text.debugDescription
        case .number(let number): return String(number)
        case .real(let real): return String(real)
        case .date(let seconds): return CalendarTime(secondsSince2001: seconds).iso8601
        case .data(let bytes):
            guard printable(bytes), !bytes.isEmpty else { return bytes.fingerprint }
            return "/\(String(decoding: bytes, as: UTF8.self))/ \(bytes.fingerprint)"
        }
    }

    private static func printable(_ bytes: [UInt8]) -> Bool {
        bytes.allSatisfy { (0x20...0x7E).contains($0) }
    }

    private static func json(_ value: AttributeValue) -> String {
        switch value {
        case .string(let text): quoted(text)
        case .number(let number): String(number)
        case .real(let real): String(real)
        case .date(let seconds): quoted(CalendarTime(secondsSince2001: seconds).iso8601)
        case .data(let bytes): quoted(Base64.text(bytes))
        }
    }

    private static func quoted(_ text: String) -> String {
        var quoted = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"", "\\": quoted += "\\" + String(scalar)
            case _ where scalar.value < 0x20 || scalar.value == 0x7F:
                let digits = String(scalar.value, radix: 16)
                quoted += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            default: quoted.unicodeScalars.append(scalar)
            }
        }
        return quoted + "\""
    }
}
