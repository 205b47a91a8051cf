// SPDX-License-Identifier: Apache-2.0
package import KeychainModel
package import KeychainWire

extension NamedProgram {
    fileprivate var wire: String {
        switch self {
        case .own: ""
        case .identity(let identity): identity
        }
    }

    fileprivate init(wire: String) throws(MessageError) {
        guard wire.utf8.count <= TrustedApplication.longestIdentity else { throw .malformed }
        self = wire.isEmpty ? .own : .identity(wire)
    }

    package static func wire(_ programs: [NamedProgram]) -> WireNamedPrograms {
        var wire = WireNamedPrograms()
        wire.identities = programs.map(\.wire)
        return wire
    }

    package static func programs(_ wire: [String]) throws(MessageError) -> [NamedProgram] {
        guard wire.count <= TrustList.mostApplications else { throw .malformed }
        var programs: [NamedProgram] = []
        for identity in wire { programs.append(try NamedProgram(wire: identity)) }
        return programs
    }
}

extension TrustChange {
    package var wire: WireTrustChange {
        var wire = WireTrustChange()
        switch self {
        case .replace(let programs): (wire.kind, wire.identities) = (1, programs.map(\.wire))
        case .add(let programs): (wire.kind, wire.identities) = (2, programs.map(\.wire))
        case .remove(let identities): (wire.kind, wire.identities) = (3, identities)
        case .reset: wire.kind = 4
        }
        return wire
    }

    package init(_ wire: WireTrustChange) throws(MessageError) {
        let programs = try NamedProgram.programs(wire.identities)
        switch wire.kind {
        case 1: self = .replace(programs)
        case 2: self = .add(programs)
        case 3: self = .remove(wire.identities)
        case 4: self = .reset
        default: throw .malformed
        }
    }
}

extension TrustList {
    package var wire: WireTrustList {
        var wire = WireTrustList()
        wire.applications = applications.map { application in
            var one = WireTrustList.Application()
            one.identity = application.identity
            one.strength = UInt32(application.strength.rawValue)
            if let listedBy = application.listedBy { one.listedBy = listedBy }
            one.listedAt = application.listedAt
            return one
        }
        return wire
    }

    package init(_ wire: WireTrustList) throws(MessageError) {
        guard wire.applications.count <= Self.mostApplications else { throw .malformed }
        var applications: [TrustedApplication] = []
        for one in wire.applications {
            guard
                let strength = UInt8(exactly: one.strength).flatMap(ProgramStrength.init(rawValue:))
            else { throw .malformed }
            applications.append(
                TrustedApplication(
                    one.identity, strength: strength,
                    listedBy: one.hasListedBy ? one.listedBy : nil, listedAt: one.listedAt))
        }
        self.init(applications)
    }
}
