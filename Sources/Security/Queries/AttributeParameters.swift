// SPDX-License-Identifier: Apache-2.0
internal import KeychainModel

/// The attributes of a dictionary, converted, with those apart that travel typed.
struct AttributeParameters {
    private(set) var attributes: Attributes
    private(set) var accessGroup: String?
    private(set) var synchronizable: ItemQuery.Synchronizable?
    private(set) var accessible: Accessibility?
    private(set) var accessControl: SecAccessControl?
    private(set) var access: SecAccess?
    private var wantsDataProtection = false
    /// `kSecUseDataProtectionKeychain` = false: the behaviour of file-based keychains is expected.
    private(set) var wantsFileBased = false
    private(set) var sharingGroup: String?
    /// A tombstone is what a synchronised item leaves behind. None exist here.
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
        // The partition of everybody, which is every item's unless it names another.
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
        // Apple's two keychains: an item has the rights of one or of the other.
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
    /// The rights of a new or changed item, where the dictionary names any; refused together with
    /// synchronisation, as what they rest on stays on this device.
    func rights() throws(RequestError) -> ItemAccessControl? {
        guard let accessControl else { return nil }
        if accessControl.carriesList, synchronizable == .yes { throw .invalid(.badRequest) }
        return accessControl.itemRights
    }

    /// The programs that a new or changed item lets in, where the dictionary names any; refused
    /// together with synchronisation, as programs are this machine's.
    func trusted() throws(RequestError) -> [NamedProgram]? {
        guard let access else { return nil }
        if synchronizable == .yes { throw .invalid(.badRequest) }
        return access.programs
    }
}
