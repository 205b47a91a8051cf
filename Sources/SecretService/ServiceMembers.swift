// SPDX-License-Identifier: Apache-2.0
internal import KeychainMessages
internal import MessageBus

/// A method of an interface: what Introspect tells of it, and how its arguments are read.
struct ServiceMember: Sendable {
    struct Argument: Sendable {
        let name: String
        let type: String
    }

    let name: String
    let arguments: [Argument]
    let results: [Argument]
    let read: @Sendable (BusMessage, ObjectPath) throws(ReadingError) -> ServiceRequest

    /// Of all arguments.
    let signature: String

    init(
        _ name: String, _ arguments: KeyValuePairs<String, String> = [:],
        gives results: KeyValuePairs<String, String> = [:],
        _ read:
            @escaping @Sendable (BusMessage, ObjectPath) throws(ReadingError) -> ServiceRequest
    ) {
        self.name = name
        self.arguments = arguments.map(Argument.init)
        signature = arguments.map(\.value).joined()
        self.results = results.map(Argument.init)
        self.read = read
    }
}

/// Why arguments of the right types are refused all the same.
enum ReadingError: Error, Equatable {
    case read(BusReadError)
    case refused(ServiceError)
}

extension ServiceMember {
    /// Of a method that reads what is in the message and nothing else.
    private static func plain(
        _ name: String, _ arguments: KeyValuePairs<String, String> = [:],
        gives results: KeyValuePairs<String, String> = [:],
        _ read: @escaping @Sendable (BusMessage) throws(BusReadError) -> ServiceRequest
    ) -> ServiceMember {
        ServiceMember(name, arguments, gives: results) { message, _ throws(ReadingError) in
            do throws(BusReadError) { return try read(message) } catch { throw .read(error) }
        }
    }

    static func members(of interface: Names.Interface) -> [ServiceMember] {
        switch interface {
        case .service: service
        case .collection: collection
        case .item: item
        case .session: [plain("Close") { _ in .closeSession }]
        case .prompt: prompt
        case .properties: properties
        case .introspectable: [plain("Introspect", gives: ["xml": "s"]) { _ in .introspect }]
        case .portal: [retrieveSecret]
        case .portalRequest: [plain("Close") { _ in .closePortalRequest }]
        }
    }

    private static let service: [ServiceMember] = [
        plain(
            "OpenSession", ["algorithm": "s", "input": "v"], gives: ["output": "v", "result": "o"]
        ) { message throws(BusReadError) in
            .openSession(
                algorithm: try message.text(atMost: Limits.name),
                input: try message.sessionInput())
        },
        plain(
            "CreateCollection", ["properties": "a{sv}", "alias": "s"],
            gives: ["collection": "o", "prompt": "o"]
        ) { message throws(BusReadError) in
            .createCollection(
                label: try message.collectionLabel(),
                alias: try message.text(atMost: Limits.name))
        },
        plain(
            "SearchItems", ["attributes": "a{ss}"], gives: ["unlocked": "ao", "locked": "ao"]
        ) { message throws(BusReadError) in .searchItems(try message.pairs()) },
        plain("Unlock", ["objects": "ao"], gives: ["unlocked": "ao", "prompt": "o"]) {
            message throws(BusReadError) in .unlock(try message.paths())
        },
        plain("Lock", ["objects": "ao"], gives: ["locked": "ao", "prompt": "o"]) {
            message throws(BusReadError) in .lock(try message.paths())
        },
        plain(
            "GetSecrets", ["items": "ao", "session": "o"], gives: ["secrets": "a{o(oayays)}"]
        ) { message throws(BusReadError) in
            .getSecrets(
                try message.paths(), session: try message.path(atMost: ObjectPath.longest))
        },
        plain("ReadAlias", ["name": "s"], gives: ["collection": "o"]) {
            message throws(BusReadError) in .readAlias(try message.text(atMost: Limits.name))
        },
        plain("SetAlias", ["name": "s", "collection": "o"]) { message throws(BusReadError) in
            .setAlias(
                try message.text(atMost: Limits.name),
                try message.path(atMost: ObjectPath.longest))
        },
    ]

    private static let collection: [ServiceMember] = [
        plain("Delete", gives: ["prompt": "o"]) { _ in .deleteCollection },
        plain("SearchItems", ["attributes": "a{ss}"], gives: ["results": "ao"]) {
            message throws(BusReadError) in .searchCollection(try message.pairs())
        },
        plain(
            "CreateItem", ["properties": "a{sv}", "secret": "(oayays)", "replace": "b"],
            gives: ["item": "o", "prompt": "o"]
        ) { message throws(BusReadError) in
            .createItem(
                try message.itemProperties(), try message.sentSecret(),
                replaces: try message.bool())
        },
    ]

    private static let item: [ServiceMember] = [
        plain("Delete", gives: ["prompt": "o"]) { _ in .deleteItem },
        plain("GetSecret", ["session": "o"], gives: ["secret": "(oayays)"]) {
            message throws(BusReadError) in
            .getSecret(session: try message.path(atMost: ObjectPath.longest))
        },
        plain("SetSecret", ["secret": "(oayays)"]) { message throws(BusReadError) in
            .setSecret(try message.sentSecret())
        },
    ]

    private static let prompt: [ServiceMember] = [
        plain("Prompt", ["window-id": "s"]) { message throws(BusReadError) in
            .prompt(over: XWindow(handle: try message.text(atMost: Limits.label)))
        },
        plain("Dismiss") { _ in .dismiss },
    ]

    private static let properties: [ServiceMember] = [
        ServiceMember(
            "Get", ["interface_name": "s", "property_name": "s"], gives: ["value": "v"]
        ) { message, object throws(ReadingError) in
            .get(try ObjectInterface.property(message, of: object).property)
        },
        ServiceMember("GetAll", ["interface_name": "s"], gives: ["properties": "a{sv}"]) {
            message, object throws(ReadingError) in
            .getAll(try ObjectInterface.properties(message, of: object))
        },
        ServiceMember("Set", ["interface_name": "s", "property_name": "s", "value": "v"]) {
            message, object throws(ReadingError) in
            .set(try ObjectInterface.change(message, of: object))
        },
    ]
}

/// An interface with its properties, as an object of some kind has it.
struct ObjectInterface: Sendable {
    let name: Names.Interface
    let properties: [(property: ServiceProperty, isWritable: Bool)]

    private init(
        _ name: Names.Interface, _ properties: [(property: ServiceProperty, isWritable: Bool)] = []
    ) {
        self.name = name
        self.properties = properties
    }

    var members: [ServiceMember] { ServiceMember.members(of: name) }

    /// What an object of that kind answers to.
    static func all(of object: ObjectPath) -> [ObjectInterface] {
        switch object {
        case .service: [service] + every
        case .folder: [ObjectInterface(.introspectable)]
        case .collection(let name): [name.isInMemory ? memory : collection] + every
        case .item: [item] + every
        case .session: [ObjectInterface(.session)] + every
        case .prompt: [ObjectInterface(.prompt)] + every
        case .portal: [ObjectInterface(.portal, [(.version, false)])] + every
        case .portalRequest: [ObjectInterface(.portalRequest)] + every
        }
    }

    private static let every = [ObjectInterface(.properties), ObjectInterface(.introspectable)]
    private static let service = ObjectInterface(.service, [(.collections, false)])
    private static let collection = ofCollection(hasWritableLabel: true)
    private static let memory = ofCollection(hasWritableLabel: false)
    private static func ofCollection(hasWritableLabel: Bool) -> ObjectInterface {
        ObjectInterface(
            .collection,
            [
                (.items, false), (.label, hasWritableLabel), (.locked, false), (.created, false),
                (.modified, false),
            ])
    }
    private static let item = ObjectInterface(
        .item,
        [
            (.locked, false), (.attributes, true), (.label, true), (.type, true),
            (.created, false), (.modified, false),
        ])

    // MARK: The arguments of Properties

    /// Those of an interface, or of all where its name is empty.
    fileprivate static func properties(
        _ message: BusMessage, of object: ObjectPath
    ) throws(ReadingError) -> [ServiceProperty] {
        try named(try name(message), of: object).flatMap(\.properties).map(\.property)
    }

    fileprivate static func property(
        _ message: BusMessage, of object: ObjectPath
    ) throws(ReadingError) -> (property: ServiceProperty, isWritable: Bool) {
        let interfaces = try named(try name(message), of: object)
        let name = try name(message)
        let found = interfaces.flatMap(\.properties).first { $0.property.rawValue == name }
        guard let found else { throw .refused(.unknownProperty) }
        return found
    }

    fileprivate static func change(
        _ message: BusMessage, of object: ObjectPath
    ) throws(ReadingError) -> PropertyChange {
        let (property, isWritable) = try property(message, of: object)
        guard isWritable else { throw .refused(.readOnly) }
        do throws(BusReadError) {
            guard try message.variantSignature() == property.signature else { throw .mismatch }
            switch property {
            case .label: return .label(try message.variantText())
            case .type: return .type(try message.variantText(atMost: Limits.pairValue))
            case .attributes:
                return .pairs(
                    try message.variant("a{ss}") { () throws(BusReadError) in
                        try message.pairs()
                    })
            case .collections, .items, .locked, .created, .modified, .version: throw .mismatch
            }
        } catch { throw .read(error) }
    }

    private static func named(
        _ name: String, of object: ObjectPath
    ) throws(ReadingError) -> [ObjectInterface] {
        let all = all(of: object)
        guard !name.isEmpty else { return all }
        guard let found = all.first(where: { $0.name.rawValue == name }) else {
            throw .refused(.unknownInterface)
        }
        return [found]
    }

    private static func name(_ message: BusMessage) throws(ReadingError) -> String {
        do { return try message.text(atMost: Limits.name) } catch { throw .read(error) }
    }
}

extension ServiceRequest {
    /// Reads a call to such an object. The interface may be left out of a call, and the member is then
    /// looked for in all that the object has.
    init(_ message: BusMessage, to object: ObjectPath) throws(ServiceError) {
        let interfaces = ObjectInterface.all(of: object)
        let member: ServiceMember?
        if let name = message.interface {
            guard let found = interfaces.first(where: { $0.name.rawValue == name }) else {
                throw .unknownInterface
            }
            member = found.members.first { $0.name == message.member }
        } else {
            member = interfaces.flatMap(\.members).first { $0.name == message.member }
        }
        guard let member else { throw .unknownMethod }
        guard message.signature == member.signature else {
            throw .invalidArguments(
                "\(member.name) takes the types “\(member.signature)”")
        }
        do throws(ReadingError) { self = try member.read(message, object) } catch {
            switch error {
            case .read(let error): throw ServiceError(error)
            case .refused(let error): throw error
            }
        }
    }
}
