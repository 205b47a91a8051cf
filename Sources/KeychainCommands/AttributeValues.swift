// SPDX-License-Identifier: Apache-2.0
internal import ArgumentParser
internal import KeychainModel

/// Attribute values as they were typed, before they are checked against a class of items.
struct AttributeValues: Equatable {
    var service: String?
    var account: String?
    var server: String?
    var networkProtocol: ProtocolWord?
    var port: UInt16?
    var path: String?
    var label: String?
    var comment: String?
    var description: String?

    /// Refuses what items of the class don't have.
    func attributes(
        for kind: ItemKind, optionPrefix: String
    ) throws(ValidationError) -> Attributes {
        var attributes: Attributes = [:]
        let rules = kind.itemClass.attributeRules
        for (option, name, value) in given {
            guard rules[name] != nil else {
                throw ValidationError(
                    "\(optionPrefix)\(option) does not belong to the class \(kind.rawValue).")
            }
            attributes[name] = value
        }
        return attributes
    }

    private var given: [(option: String, name: AttributeName, value: AttributeValue)] {
        let all: [(String, AttributeName, AttributeValue?)] = [
            ("service", .service, service.map(AttributeValue.string)),
            ("account", .account, account.map(AttributeValue.string)),
            ("server", .server, server.map(AttributeValue.string)),
            ("protocol", .networkProtocol, networkProtocol.map { .string($0.code) }),
            ("port", .port, port.map { .number(Int64($0)) }),
            ("path", .path, path.map(AttributeValue.string)),
            ("label", .label, label.map(AttributeValue.string)),
            ("comment", .comment, comment.map(AttributeValue.string)),
            ("description", .itemDescription, description.map(AttributeValue.string)),
        ]
        return all.compactMap { option, name, value in value.map { (option, name, $0) } }
    }
}
