// SPDX-License-Identifier: Apache-2.0
internal import FoundationEssentials
internal import KeychainModel
internal import Terminal

extension ItemRecord {
    /// The item for people: a line, and below it what there is to know.
    var text: String {
        var lines = ["\(`class`) \(title)"]
        for (name, value) in attributes.sorted(by: { $0.key < $1.key })
        where value.value != .string("") {
            lines.append("    \(name): \(Self.shown(value))")
        }
        if let keychain { lines.append("    keychain: \(PlainText.line(keychain))") }
        if let group { lines.append("    group: \(PlainText.line(group))") }
        lines.append("    accessible: \(accessible)")
        switch flags {
        case nil: lines.append("    flags: of its own kind")
        case let flags? where !flags.isEmpty:
            lines.append("    flags: \(flags.joined(separator: ","))")
        default: break
        }
        if let created { lines.append("    created: \(created)") }
        if let modified, modified != created { lines.append("    modified: \(modified)") }
        return lines.joined(separator: "\n") + "\n"
    }

    private var title: String {
        for name in ["label", "service", "server", "account"] {
            if case .string(let text)? = attributes[name]?.value, !text.isEmpty {
                return "“\(PlainText.line(text))”"
            }
        }
        return "without a name"
    }

    private static func shown(_ record: AttributeRecord) -> String {
        switch record.value {
        case .string(let text): PlainText.line(text)
        case .number(let number): "\(number)"
        case .real(let number): "\(number)"
        case .date(let seconds):
            Date(timeIntervalSinceReferenceDate: seconds).formatted(.iso8601)
        case .data(let bytes): "\(bytes.count) bytes: " + Data(bytes).base64EncodedString()
        }
    }
}
