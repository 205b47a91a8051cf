// SPDX-License-Identifier: Apache-2.0
internal import ArgumentParser
internal import KeychainModel

/// What an item is called: the attributes of a new item, or those that the items meant have.
struct AttributeOptions: ParsableArguments {
    @Option(help: "The service (generic passwords).")
    var service: String?
    @Option(help: "The account's name.")
    var account: String?
    @Option(help: "The server (internet passwords).")
    var server: String?
    @Option(name: .customLong("protocol"), help: "The protocol (internet passwords), as https.")
    var networkProtocol: ProtocolWord?
    @Option(help: "The port (internet passwords).")
    var port: UInt16?
    @Option(help: "The path (internet passwords).")
    var path: String?
    @Option(help: "The name that people see.")
    var label: String?
    @Option(help: "A comment.")
    var comment: String?
    @Option(help: "What kind of thing it is.")
    var description: String?

    var typed: AttributeValues {
        AttributeValues(
            service: service, account: account, server: server, networkProtocol: networkProtocol,
            port: port, path: path, label: label, comment: comment, description: description)
    }

    func values(for kind: ItemKind) throws(ValidationError) -> Attributes {
        try typed.attributes(for: kind, optionPrefix: "--")
    }
}

/// The same for what an update changes.
struct NewAttributeOptions: ParsableArguments {
    @Option(help: "The new service (generic passwords).")
    var newService: String?
    @Option(help: "The new account.")
    var newAccount: String?
    @Option(help: "The new server (internet passwords).")
    var newServer: String?
    @Option(name: .customLong("new-protocol"), help: "The new protocol (internet passwords).")
    var newProtocol: ProtocolWord?
    @Option(help: "The new port (internet passwords).")
    var newPort: UInt16?
    @Option(help: "The new path (internet passwords).")
    var newPath: String?
    @Option(help: "The new name that people see.")
    var newLabel: String?
    @Option(help: "The new comment.")
    var newComment: String?
    @Option(help: "The new kind of thing it is.")
    var newDescription: String?

    func values(for kind: ItemKind) throws(ValidationError) -> Attributes {
        let values = AttributeValues(
            service: newService, account: newAccount, server: newServer,
            networkProtocol: newProtocol, port: newPort, path: newPath, label: newLabel,
            comment: newComment, description: newDescription)
        return try values.attributes(for: kind, optionPrefix: "--new-")
    }
}
