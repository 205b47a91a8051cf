// SPDX-License-Identifier: Apache-2.0
internal import FoundationEssentials
package import KeychainModel
package import KeychainWire

extension ItemQuery {
    package var wire: WireQuery {
        var wire = WireQuery()
        if let keychain { wire.keychain = keychain }
        wire.itemClass = UInt32(itemClass.rawValue)
        wire.attributes = AttributesCoding.wire(attributes)
        if let accessible { wire.accessible = UInt32(accessible.rawValue) }
        if let accessGroup { wire.accessGroup = accessGroup }
        wire.synchronizable = UInt32(synchronizable.rawValue)
        if let references {
            wire.restrictsReferences = true
            wire.references = references.map { .init($0.bytes) }
        }
        if let hostOrSubdomain { wire.hostOrSubdomain = hostOrSubdomain }
        wire.folding = UInt32(folding.rawValue)
        if let limit { wire.limit = Int64(clamping: limit) }
        wire.parts = UInt32(parts.rawValue)
        wire.authenticationUi = UInt32(authenticationUI.rawValue)
        if let reason { wire.reason = reason }
        return wire
    }

    package init(_ wire: WireQuery) throws(MessageError) {
        self.init(try ItemClass(wire: wire.itemClass))
        guard let synchronizable = Synchronizable(rawValue: try byte(wire.synchronizable)),
            let authenticationUI = AuthenticationUI(rawValue: try byte(wire.authenticationUi))
        else { throw .malformed }
        keychain = wire.hasKeychain ? wire.keychain : nil
        attributes = try AttributesCoding.attributes(wire.attributes)
        accessible = wire.hasAccessible ? try Accessibility(wire: wire.accessible) : nil
        accessGroup = wire.hasAccessGroup ? wire.accessGroup : nil
        self.synchronizable = synchronizable
        references = wire.restrictsReferences ? try Self.references(wire.references) : nil
        hostOrSubdomain = wire.hasHostOrSubdomain ? wire.hostOrSubdomain : nil
        folding = Folding(rawValue: try byte(wire.folding))
        guard !wire.hasLimit || wire.limit >= 0 else { throw .malformed }
        limit = wire.hasLimit ? Int(clamping: wire.limit) : nil
        parts = Parts(rawValue: try byte(wire.parts))
        self.authenticationUI = authenticationUI
        reason = wire.hasReason ? wire.reason : nil
    }

    private static func references(
        _ wire: [some Collection<UInt8>]
    ) throws(MessageError) -> [ItemReference] {
        var references: [ItemReference] = []
        for bytes in wire {
            guard let reference = ItemReference(bytes: Array(bytes)) else { throw .malformed }
            references.append(reference)
        }
        return references
    }
}

extension NewItem {
    package var wire: WireItem {
        var wire = WireItem()
        if let keychain { wire.keychain = keychain }
        wire.itemClass = UInt32(itemClass.rawValue)
        wire.attributes = AttributesCoding.wire(attributes)
        if let accessGroup { wire.accessGroup = accessGroup }
        wire.synchronizable = isSynchronizable
        wire.accessible = UInt32(accessible.rawValue)
        if let accessControl { wire.accessControl = accessControl.wire }
        wire.authenticationUi = UInt32(authenticationUI.rawValue)
        if let reason { wire.reason = reason }
        if let trusted { wire.trusted = NamedProgram.wire(trusted) }
        return wire
    }

    package init(_ wire: WireItem) throws(MessageError) {
        self.init(try ItemClass(wire: wire.itemClass))
        guard
            let authenticationUI = ItemQuery.AuthenticationUI(
                rawValue: try byte(wire.authenticationUi))
        else { throw .malformed }
        keychain = wire.hasKeychain ? wire.keychain : nil
        attributes = try AttributesCoding.attributes(wire.attributes)
        accessGroup = wire.hasAccessGroup ? wire.accessGroup : nil
        isSynchronizable = wire.synchronizable
        accessible = try Accessibility(wire: wire.accessible)
        accessControl = wire.hasAccessControl ? try ItemAccessControl(wire.accessControl) : nil
        trusted = wire.hasTrusted ? try NamedProgram.programs(wire.trusted.identities) : nil
        self.authenticationUI = authenticationUI
        reason = wire.hasReason ? wire.reason : nil
    }
}

extension ItemChange {
    package var wire: WireChange {
        var wire = WireChange()
        wire.attributes = AttributesCoding.wire(attributes)
        if let accessGroup { wire.accessGroup = accessGroup }
        if let isSynchronizable { wire.synchronizable = isSynchronizable }
        if let accessible { wire.accessible = UInt32(accessible.rawValue) }
        if let accessControl { wire.accessControl = accessControl.wire }
        if let trust { wire.trust = trust.wire }
        return wire
    }

    package init(_ wire: WireChange) throws(MessageError) {
        self.init()
        attributes = try AttributesCoding.attributes(wire.attributes)
        accessGroup = wire.hasAccessGroup ? wire.accessGroup : nil
        isSynchronizable = wire.hasSynchronizable ? wire.synchronizable : nil
        accessible = wire.hasAccessible ? try Accessibility(wire: wire.accessible) : nil
        accessControl = wire.hasAccessControl ? try ItemAccessControl(wire.accessControl) : nil
        trust = wire.hasTrust ? try TrustChange(wire.trust) : nil
    }
}

private func byte(_ value: UInt32) throws(MessageError) -> UInt8 {
    guard let byte = UInt8(exactly: value) else { throw .malformed }
    return byte
}
