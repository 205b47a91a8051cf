// SPDX-License-Identifier: Apache-2.0
internal import KeychainModel

/// The attributes of a dictionary, converted; those that have a type of their own in a request are
/// apart.
struct AttributeParameters {
    private(set) var attributes: Attributes
    private(set) var accessGroup: String?
    private(set) var synchronizable: ItemQuery.Synchronizable?
    private(set) var accessible: Accessibility?
    private(set) var accessControl: SecAccessControl?
    private(set) var access: SecAccess?
    private var wantsDataProtection = false
    /// `kSecUseDataProtectionKeychain` is false: the program expects the behaviour of file-based
    /// keychains.
    private(set) var wantsFileBased = false
    private(set) var sharingGroup: String?
    /// A tombstone remains of a deleted synchronised item. None exist here.
    private(set) var wantsTombstones = false

    /// Bytes of the digest of an item's content.
    private static let digestBytes = 20

    init(
        _ given: [(name: AttributeName, value: QueryValue)], of queryClass: QueryClass
    ) throws(RequestError) {
        attributes = Attributes(minimumCapacity: given.count)
        for (name, value) in given { try add(name, value, queryClass) }
        try refuseContradictions()
    }

    private mutating func add(
        _ name: AttributeName, _ value: QueryValue, _ queryClass: QueryClass
    ) throws(RequestError) {
        switch name {
        case .noLegacy:
            switch value {
            case .boolean(true): wantsDataProtection = true
            case .boolean(false), .number(0): wantsFileBased = true
            default: break
            }
        case .appClipItem: throw .invalid(.badRequest)
        case .accessible: accessible = try Self.accessibility(value)
        case .accessControl:
            guard case .accessControl(let rights) = value else { throw .invalid(.badRequest) }
            accessControl = rights
        case .access:
            guard case .access(let list) = value else { throw .invalid(.badRequest) }
            access = list
        default:
            guard let kind = queryClass.rule(for: name)?.kind else {
                throw .invalid(.noSuchAttribute)
            }
            try add(name, kind.value(value))
        }
    }

    private mutating func add(_ name: AttributeName, _ value: AttributeValue) throws(RequestError) {
        switch (name, value) {
        case (.accessGroup, .string(let group)): accessGroup = group
        case (.sharingGroup, .string(let group)): sharingGroup = group
        case (.synchronizable, _): synchronizable = try Self.synchronizable(value)
        case (.tombstone, _): wantsTombstones = value != .number(0)
        // The default partition, which every item is in unless it names another.
        case (.multiUser, .data([])): break
        case (.digest, .data(let digest)) where digest.count != Self.digestBytes:
            throw .invalid(.badRequest)
        default: attributes[name] = value
        }
    }

    private static func accessibility(_ value: QueryValue) throws(RequestError) -> Accessibility {
        guard case .string(let code) = value, let accessibility = Accessibility(code: code)
        else { throw .invalid(.badRequest) }
        return accessibility
    }

    private static func synchronizable(
        _ value: AttributeValue
    ) throws(RequestError) -> ItemQuery.Synchronizable {
        switch value {
        case .number(0): .no
        case .number(1): .yes
        case .string("syna"): .any
        default: throw .invalid(.badRequest)
        }
    }

    private func refuseContradictions() throws(RequestError) {
        if let accessControl {
            guard let rights = accessControl.itemRights else { throw .invalid(.badRequest) }
            if let accessible, accessControl.carriesList || rights.protection != accessible {
                throw .invalid(.badRequest)
            }
        }
        // Apple has two keychains, and an item has the access control of only one of them.
        if access != nil, accessControl?.carriesList == true || wantsDataProtection {
            throw .invalid(.badRequest)
        }
        if sharingGroup != nil {
            // Groups of people who share items need an entitlement that no program has here.
            throw synchronizable == .yes ? .invalid(.badRequest) : .refused(.notEntitled)
        }
    }
}

extension AttributeParameters {
    /// The access control of a new or changed item, where the dictionary names one. Refused
    /// together with synchronisation, as its constraints depend on this device.
    func rights() throws(RequestError) -> ItemAccessControl? {
        guard let accessControl else { return nil }
        if accessControl.carriesList, synchronizable == .yes { throw .invalid(.badRequest) }
        return accessControl.itemRights
    }

    /// The trusted programs of a new or changed item, where the dictionary names any. Refused
    /// together with synchronisation, as programs are local to this machine.
    func trusted() throws(RequestError) -> [NamedProgram]? {
        guard let access else { return nil }
        if synchronizable == .yes { throw .invalid(.badRequest) }
        return access.programs
    }
}
