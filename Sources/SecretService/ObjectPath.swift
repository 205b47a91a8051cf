// SPDX-License-Identifier: Apache-2.0
internal import KeychainModel
internal import KeychainSecrets

/// What an object path names below `/org/freedesktop/secrets` or of the portal's, whether it is there or
/// not.
enum ObjectPath: Hashable, Sendable {
    case service
    case folder(Folder)
    case collection(CollectionName)
    case item(CollectionName, ItemName)
    case session(String)
    case prompt(String)
    case portal
    /// By its whole path, which the portal chose.
    case portalRequest(String)

    /// The objects that have nothing but children.
    enum Folder: String, Sendable, CaseIterable {
        case collection, aliases, session, prompt
    }

    static let root = "/org/freedesktop/secrets"
    /// No path that names something is longer.
    static let longest = 512
    /// Stands for no object.
    static let none = "/"

    /// nil for a path that can't name anything here.
    init?(_ path: String) {
        guard path.utf8.count <= Self.longest else { return nil }
        guard path.hasPrefix(Self.root) else {
            self.init(ofPortal: path)
            return
        }
        let parts = path.dropFirst(Self.root.count).split(
            separator: "/", omittingEmptySubsequences: false)
        guard let first = parts.first else {
            self = .service
            return
        }
        // What is left begins with a slash, unless nothing is.
        guard first.isEmpty, parts.count <= 4 else { return nil }
        guard parts.count > 1 else {
            self = .service
            return
        }
        guard let folder = Folder(rawValue: String(parts[1])) else { return nil }
        self.init(folder, Array(parts.dropFirst(2)))
    }

    private init?(ofPortal path: String) {
        if path == PortalRequest.path {
            self = .portal
        } else if path.hasPrefix(PortalRequest.handles) {
            self = .portalRequest(path)
        } else {
            return nil
        }
    }

    private init?(_ folder: Folder, _ parts: [Substring]) {
        guard let first = parts.first else {
            self = .folder(folder)
            return
        }
        switch folder {
        case .session, .prompt:
            guard parts.count == 1, Self.isRandom(first) else { return nil }
            self = folder == .session ? .session(String(first)) : .prompt(String(first))
        case .collection, .aliases:
            guard let collection = CollectionName(String(first), isAlias: folder == .aliases)
            else { return nil }
            guard parts.count > 1 else {
                self = .collection(collection)
                return
            }
            guard let item = ItemName(parts[1]) else { return nil }
            self = .item(collection, item)
        }
    }

    /// The error for a path that names nothing here. Below the collections another service may
    /// have had an item of that name; elsewhere libraries know the error of a missing method alone.
    static func refusal(of path: String) -> ServiceError {
        let mayBeItem = [Folder.collection, .aliases].contains { folder in
            let beginning = "\(root)/\(folder.rawValue)/"
            guard path.hasPrefix(beginning) else { return false }
            return path.dropFirst(beginning.count).split(separator: "/", maxSplits: 2).count <= 2
        }
        return mayBeItem ? .noSuchObject : .unknownObject
    }

    private static func isRandom(_ element: Substring) -> Bool {
        ItemName(element).map { !$0.isStandIn } ?? false
    }
}

extension ObjectPath: CustomStringConvertible {
    var description: String {
        switch self {
        case .service: Self.root
        case .folder(let folder): Self.root + "/" + folder.rawValue
        case .collection(let collection): collection.path
        case .item(let collection, let item): collection.path + "/" + item.description
        case .session(let name): Self.root + "/session/" + name
        case .prompt(let name): Self.root + "/prompt/" + name
        case .portal: PortalRequest.path
        case .portalRequest(let path): path
        }
    }
}

/// A collection as a path names it: by its keychain's name, or by an alias.
struct CollectionName: Hashable, Sendable {
    let name: String
    let isAlias: Bool

    init(keychain: String) {
        name = keychain
        isAlias = false
    }

    /// nil for an element that no name is written as.
    init?(_ element: String, isAlias: Bool) {
        guard let name = isAlias ? Self.alias(element) : Self.decoded(element) else { return nil }
        self.name = name
        self.isAlias = isAlias
    }

    var path: String {
        isAlias
            ? ObjectPath.root + "/aliases/" + name
            : ObjectPath.root + "/collection/" + Self.encoded(name)
    }

    /// The alias of that name stands for no other collection.
    var isInMemory: Bool { name == MemoryCollection.name }

    private static let longestAlias = 64

    /// Letters, digits and `_`.
    static func alias(_ text: String) -> String? {
        let isAllowed = text.utf8.allSatisfy { isPlain($0) || $0 == UInt8(ascii: "_") }
        return isAllowed && (1...longestAlias).contains(text.utf8.count) ? text : nil
    }

    /// Every byte but letters and digits as `_` and two digits.
    static func encoded(_ name: String) -> String {
        name.utf8.reduce(into: "") { path, byte in
            if isPlain(byte) {
                path.unicodeScalars.append(Unicode.Scalar(byte))
            } else {
                path += "_" + CollectionOfOne(byte).hexadecimal
            }
        }
    }

    /// nil for what `encoded` does not write.
    static func decoded(_ element: String) -> String? {
        var bytes: [UInt8] = []
        var rest = Array(element.utf8)[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "_") else {
                guard isPlain(byte) else { return nil }
                bytes.append(byte)
                continue
            }
            guard let high = rest.popFirst().flatMap(Hex.value),
                let low = rest.popFirst().flatMap(Hex.value)
            else { return nil }
            bytes.append(high << 4 | low)
        }
        guard !bytes.isEmpty, let name = String(validating: bytes, as: UTF8.self),
            encoded(name) == element
        else { return nil }
        return name
    }

    static func isPlain(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: false
        }
    }
}

/// An item as a path names it: by its identifier, for life, or as what a search will find once its
/// collection is open.
struct ItemName: Hashable, Sendable, CustomStringConvertible {
    private static let standInMark = "q"

    let identifier: [UInt8]
    let isStandIn: Bool

    init(_ reference: ItemReference) { self.init(identifier: reference.identifier) }

    init(identifier: [UInt8]) {
        self.identifier = identifier
        isStandIn = false
    }

    private init(standIn identifier: [UInt8]) {
        self.identifier = identifier
        isStandIn = true
    }

    static func standIn() -> ItemName { ItemName(standIn: RandomBytes.make(16)) }

    /// nil for anything but 32 digits in lower case, which have a letter before them in a stand-in's
    /// name.
    init?(_ element: some StringProtocol) {
        isStandIn = element.hasPrefix(Self.standInMark)
        let digits = Array(element.utf8.dropFirst(isStandIn ? 1 : 0))
        guard digits.count == 2 * ItemReference.identifierBytes else { return nil }
        var bytes: [UInt8] = []
        for start in stride(from: 0, to: digits.count, by: 2) {
            guard let high = Hex.value(digits[start]), let low = Hex.value(digits[start + 1])
            else { return nil }
            bytes.append(high << 4 | low)
        }
        identifier = bytes
    }

    var description: String {
        (isStandIn ? Self.standInMark : "") + identifier.hexadecimal
    }
}

private enum Hex {
    static func value(_ digit: UInt8) -> UInt8? {
        switch digit {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
        default: nil
        }
    }
}
