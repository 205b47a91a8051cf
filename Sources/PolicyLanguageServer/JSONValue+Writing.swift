// SPDX-License-Identifier: Apache-2.0
internal import KeychainPolicyModel
internal import PolicySyntax

extension JSONValue {
    /// On one line.
    var json: String {
        switch self {
        case .null: "null"
        case .flag(let flag): "\(flag)"
        case .number(let text): text
        case .text(let text): JSONText(text).description
        case .list(let items): "[" + items.map(\.json).joined(separator: ",") + "]"
        case .object(let members):
            "{"
                + members.map { "\(JSONText($0.name)):\($0.value.json)" }.joined(separator: ",")
                + "}"
        }
    }

    /// An object without the members whose value is nil.
    static func object(_ members: [(String, JSONValue?)]) -> JSONValue {
        .object(members.compactMap { name, value in value.map { Member(name, $0) } })
    }
}
