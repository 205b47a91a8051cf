// SPDX-License-Identifier: Apache-2.0

/// What an object tells of itself. Items are no children of their collections: a list would tell a
/// program what others have.
enum Introspection {
    private static let header = """
        <!DOCTYPE node PUBLIC "-//freedesktop//DTD D-BUS Object Introspection 1.0//EN"
         "http://www.freedesktop.org/standards/dbus/1.0/introspect.dtd">

        """

    static func document(of object: ObjectPath, children: [String]) -> String {
        let interfaces = ObjectInterface.all(of: object).map { describe($0, of: object) }.joined()
        let nodes = children.map { " <node name=\"\($0)\"/>\n" }.joined()
        return header + "<node>\n" + interfaces + nodes + "</node>\n"
    }

    private static func describe(_ interface: ObjectInterface, of object: ObjectPath) -> String {
        let members = interface.members.map(describe).joined()
        let properties = interface.properties.map { property, isWritable in
            let access = isWritable ? "readwrite" : "read"
            return "  <property name=\"\(property.rawValue)\" type=\"\(property.signature)\""
                + " access=\"\(access)\"/>\n"
        }
        return " <interface name=\"\(interface.name.rawValue)\">\n" + members
            + properties.joined() + signals(of: interface.name, object) + " </interface>\n"
    }

    private static func describe(_ member: ServiceMember) -> String {
        "  <method name=\"\(member.name)\">\n"
            + member.arguments.map { argument($0, " direction=\"in\"") }.joined()
            + member.results.map { argument($0, " direction=\"out\"") }.joined()
            + "  </method>\n"
    }

    private static func argument(_ argument: ServiceMember.Argument, _ more: String) -> String {
        "   <arg name=\"\(argument.name)\" type=\"\(argument.type)\"\(more)/>\n"
    }

    private static func signals(of interface: Names.Interface, _ object: ObjectPath) -> String {
        let signals: KeyValuePairs<String, KeyValuePairs<String, String>> =
            switch interface {
            case .service:
                [
                    "CollectionCreated": ["collection": "o"],
                    "CollectionDeleted": ["collection": "o"],
                    "CollectionChanged": ["collection": "o"],
                ]
            case .collection:
                [
                    "ItemCreated": ["item": "o"], "ItemDeleted": ["item": "o"],
                    "ItemChanged": ["item": "o"],
                ]
            case .prompt: ["Completed": ["dismissed": "b", "result": "v"]]
            case .properties where object.tellsChanges:
                [
                    "PropertiesChanged": [
                        "interface_name": "s", "changed_properties": "a{sv}",
                        "invalidated_properties": "as",
                    ]
                ]
            case .item, .session, .introspectable, .properties, .portal, .portalRequest: [:]
            }
        return signals.map { name, arguments in
            "  <signal name=\"\(name)\">\n"
                + arguments.map { argument(.init(name: $0.key, type: $0.value), "") }.joined()
                + "  </signal>\n"
        }.joined()
    }
}

extension ObjectPath {
    fileprivate var tellsChanges: Bool {
        switch self {
        case .collection, .item: true
        case .service, .folder, .session, .prompt, .portal, .portalRequest: false
        }
    }
}
