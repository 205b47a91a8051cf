// SPDX-License-Identifier: Apache-2.0
internal import KeychainModel

/// An item's rights as text: `ak;od(cpo(DeviceOwnerAuthentication));odel(true);oe(true)`.
enum AccessControlText {
    private static let owner = "cpo(DeviceOwnerAuthentication)"

    static func of(_ rights: ItemAccessControl) -> String {
        let operations = rights.operations.sorted { $0.key.rawValue < $1.key.rawValue }
        return
            ([rights.protection.code]
            + operations.map { "\($0.key.rawValue)(\(text($0.value)))" }
            + (rights.needsApplicationPassword ? ["prp(true)"] : []))
            .joined(separator: ";")
    }

    private static func text(_ constraint: Constraint) -> String {
        switch constraint {
        case .always: "true"
        case .never: "false"
        case .userPresence: owner
        case .devicePasscode: "cup(true)"
        case .biometryAny: "cbio(pbioc(<>)pbioh(<>))"
        case .biometryCurrentSet: "cbio(pbioc(<>)pbioh(<current>))"
        case .companion: "cwtch(true)"
        case .atLeast(let required, let members):
            members.map(text).joined() + "pkofn(\(required))"
        }
    }

    /// nil for any other text. Deleting and writing need no proof where they are not named.
    static func value(of text: String) -> ItemAccessControl? {
        var parts = text.split(separator: ";")[...]
        guard let code = parts.popFirst(), let protection = Accessibility(code: String(code)) else {
            return nil
        }
        guard !parts.isEmpty else { return .plain(protection) }
        var operations: [ItemOperation: Constraint] = [.delete: .always, .encrypt: .always]
        var needsPassword = false
        for part in parts {
            guard let open = part.firstIndex(of: "("), part.last == ")" else { return nil }
            let name = part[..<open]
            let inner = part[part.index(after: open)...].dropLast()
            if name == "prp" {
                needsPassword = inner == "true"
            } else {
                guard let operation = ItemOperation(rawValue: String(name)),
                    let constraint = constraint(inner)
                else { return nil }
                operations[operation] = constraint
            }
        }
        return ItemAccessControl(
            protection: protection, operations: operations, defaultOperation: nil,
            needsApplicationPassword: needsPassword)
    }

    /// One constraint, or several with the number that is needed.
    private static func constraint(_ text: Substring) -> Constraint? {
        let words: [(text: String, constraint: Constraint)] = [
            ("true", .always), ("false", .never), (owner, .userPresence),
            ("cup(true)", .devicePasscode), ("cbio(pbioc(<>)pbioh(<>))", .biometryAny),
            ("cbio(pbioc(<>)pbioh(<current>))", .biometryCurrentSet),
            ("cwtch(true)", .companion),
        ]
        var rest = text
        var members: [Constraint] = []
        var required: Int?
        while !rest.isEmpty {
            if let word = words.first(where: { rest.hasPrefix($0.text) }) {
                members.append(word.constraint)
                rest = rest.dropFirst(word.text.count)
            } else if rest.hasPrefix("pkofn("), let end = rest.firstIndex(of: ")") {
                required = Int(rest[..<end].dropFirst("pkofn(".count))
                rest = rest[rest.index(after: end)...]
            } else {
                return nil
            }
        }
        if members.count == 1 { return members[0] }
        guard let required, (1...members.count).contains(required),
            members.count <= Constraint.mostMembers
        else { return nil }
        return .atLeast(required: required, of: members)
    }
}
