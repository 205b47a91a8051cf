// SPDX-License-Identifier: Apache-2.0
internal import KeychainMessages
internal import KeychainModel
internal import KeychainSecrets
internal import MessageBus

/// What a call asks for, read whole before anything is done.
enum ServiceRequest: Sendable {
    // The service.
    case openSession(algorithm: String, input: SessionInput)
    case createCollection(label: String, alias: String)
    case searchItems(Attributes)
    case unlock([String])
    case lock([String])
    case getSecrets([String], session: String)
    case readAlias(String)
    case setAlias(String, String)
    // A collection.
    case deleteCollection
    case searchCollection(Attributes)
    case createItem(ItemProperties, SentSecret, replaces: Bool)
    // An item.
    case deleteItem
    case getSecret(session: String)
    case setSecret(SentSecret)
    // A session, a prompt.
    case closeSession
    case prompt(over: XWindow?)
    case dismiss
    // The portal.
    case retrieveSecret(PortalRequest)
    case closePortalRequest
    // Each object.
    case get(ServiceProperty)
    case getAll([ServiceProperty])
    case set(PropertyChange)
    case introspect
}

/// What a client says to begin a session.
enum SessionInput: Sendable, Equatable {
    case text
    case bytes([UInt8])
    case other
}

/// An item's properties as a call gives them; nil for what it does not.
struct ItemProperties: Sendable, Equatable {
    var label: String?
    var pairs: Attributes?
    var type: String?

    /// The pairs with the type among them, unless they say one themselves.
    var allPairs: Attributes {
        var all = pairs ?? [:]
        if let type, !type.isEmpty, all[.schema] == nil { all[.schema] = .string(type) }
        return all
    }
}

/// A secret as it travels.
struct SentSecret: Sendable {
    let session: String
    let parameters: [UInt8]
    let value: HeldSecret
    let contentType: String
}

/// What the interfaces have besides members.
enum ServiceProperty: String, Sendable, CaseIterable {
    case collections = "Collections"
    case items = "Items"
    case attributes = "Attributes"
    case label = "Label"
    case type = "Type"
    case locked = "Locked"
    case created = "Created"
    case modified = "Modified"
    case version

    var signature: String {
        switch self {
        case .collections, .items: "ao"
        case .attributes: "a{ss}"
        case .label, .type: "s"
        case .locked: "b"
        case .created, .modified: "t"
        case .version: "u"
        }
    }
}

/// What a property is set to.
enum PropertyChange: Sendable, Equatable {
    case label(String)
    case type(String)
    case pairs(Attributes)
}

extension BusMessage {
    /// The pairs that an item has, or that are looked for.
    func pairs() throws(BusReadError) -> Attributes {
        var pairs: Attributes = [:]
        var bytes = 0
        try each("{ss}") { () throws(BusReadError) in
            try entry("ss") { () throws(BusReadError) in
                let name = try text(atMost: Limits.pairName)
                let value = try text(atMost: Limits.pairValue)
                bytes += name.utf8.count + value.utf8.count
                pairs[.pair(name)] = .string(value)
            }
            guard pairs.count <= Limits.pairs, bytes <= Limits.allPairs else { throw .tooLong }
        }
        return pairs
    }

    func paths() throws(BusReadError) -> [String] {
        var paths: [String] = []
        try each("o") { () throws(BusReadError) in
            paths.append(try path(atMost: ObjectPath.longest))
            guard paths.count <= Limits.namedPaths else { throw .tooLong }
        }
        return paths
    }

    func sentSecret() throws(BusReadError) -> SentSecret {
        try structure("oayays") { () throws(BusReadError) in
            SentSecret(
                session: try path(atMost: ObjectPath.longest),
                parameters: try bytes(atMost: Limits.name),
                // Encrypted it is longer by its padding.
                value: try secret(atMost: Limits.secret + 16),
                contentType: try text(atMost: Limits.contentType))
        }
    }

    func sessionInput() throws(BusReadError) -> SessionInput {
        switch try variantSignature() {
        case "s":
            try skip("v")
            return .text
        case "ay":
            return .bytes(
                try variant("ay") { () throws(BusReadError) in try bytes(atMost: Limits.label) })
        default:
            try skip("v")
            return .other
        }
    }

    /// Properties by their full names; one that is not expected there ends the reading.
    func properties(
        of interface: Names.Interface,
        _ read: (_ name: String, _ signature: String) throws(BusReadError) -> Void
    ) throws(BusReadError) {
        let prefix = interface.rawValue + "."
        var count = 0
        try each("{sv}") { () throws(BusReadError) in
            count += 1
            guard count <= Limits.properties else { throw .tooLong }
            try entry("sv") { () throws(BusReadError) in
                let name = try text(atMost: Limits.name)
                guard name.hasPrefix(prefix) else { throw .mismatch }
                try read(String(name.dropFirst(prefix.count)), try variantSignature())
            }
        }
    }

    func itemProperties() throws(BusReadError) -> ItemProperties {
        var properties = ItemProperties()
        try self.properties(of: .item) { name, signature throws(BusReadError) in
            switch (name, signature) {
            case ("Label", "s"): properties.label = try variantText()
            case ("Type", "s"): properties.type = try variantText(atMost: Limits.pairValue)
            case ("Attributes", "a{ss}"):
                properties.pairs = try variant("a{ss}") { () throws(BusReadError) in try pairs() }
            default: throw .mismatch
            }
        }
        return properties
    }

    func collectionLabel() throws(BusReadError) -> String {
        var label = ""
        try properties(of: .collection) { name, signature throws(BusReadError) in
            guard name == "Label", signature == "s" else { throw .mismatch }
            label = try variantText()
        }
        return label
    }

    func variantText(atMost limit: Int = Limits.label) throws(BusReadError) -> String {
        try variant("s") { () throws(BusReadError) in try text(atMost: limit) }
    }
}
