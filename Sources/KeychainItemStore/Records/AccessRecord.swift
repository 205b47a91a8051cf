// SPDX-License-Identifier: Apache-2.0
internal import KeychainModel

/// An item's rights as bytes: part of its attributes, and hashed into what its secret is bound to.
///
/// protection ‖ flags ‖ default constraint, if any ‖ count ‖ (operation ‖ constraint)… ‖ what was
/// enrolled, where it is bound to that
extension ItemAccessControl {
    private static let passwordFlag: UInt8 = 1
    private static let defaultFlag: UInt8 = 2
    private static let boundFlag: UInt8 = 4
    private static let biometryBytes = 32
    private static let usualBytes = 16

    func encoded() throws(KeychainStoreError) -> [UInt8] {
        var flags: UInt8 = needsApplicationPassword ? Self.passwordFlag : 0
        if defaultOperation != nil { flags |= Self.defaultFlag }
        if !boundBiometry.isEmpty { flags |= Self.boundFlag }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(Self.usualBytes)
        bytes.append(protection.rawValue)
        bytes.append(flags)
        if let defaultOperation { try defaultOperation.encode(into: &bytes, depth: 0) }
        // Safe: there are seven operations.
        bytes.append(UInt8(operations.count))
        for operation in ItemOperation.allCases {
            guard let constraint = operations[operation] else { continue }
            bytes.append(operation.code)
            try constraint.encode(into: &bytes, depth: 0)
        }
        guard boundBiometry.isEmpty || boundBiometry.count == Self.biometryBytes else {
            throw .tooLarge
        }
        bytes += boundBiometry
        return bytes
    }

    init(decoding bytes: [UInt8]) throws(MalformedBytes) {
        try self.init(decoding: ArraySlice(bytes))
    }

    init(decoding bytes: ArraySlice<UInt8>) throws(MalformedBytes) {
        var reader = ByteReader(bytes)
        guard let protection = Accessibility(rawValue: try reader.byte()) else {
            throw MalformedBytes()
        }
        let flags = try reader.byte()
        guard flags <= Self.passwordFlag | Self.defaultFlag | Self.boundFlag else {
            throw MalformedBytes()
        }
        let isDefaultGiven = flags & Self.defaultFlag != 0
        let defaultOperation = isDefaultGiven ? try Constraint(&reader, depth: 0) : nil
        var operations: [ItemOperation: Constraint] = [:]
        var previous: UInt8 = 0
        for _ in 0..<(try reader.byte()) {
            let code = try reader.byte()
            guard code > previous,
                let operation = ItemOperation.allCases.first(where: { $0.code == code })
            else { throw MalformedBytes() }
            operations[operation] = try Constraint(&reader, depth: 0)
            previous = code
        }
        var biometry: [UInt8] = []
        if flags & Self.boundFlag != 0 { biometry = Array(try reader.take(Self.biometryBytes)) }
        guard reader.isAtEnd else { throw MalformedBytes() }
        self.init(
            protection: protection, operations: operations, defaultOperation: defaultOperation,
            needsApplicationPassword: flags & Self.passwordFlag != 0, boundBiometry: biometry)
    }
}

extension ItemOperation {
    /// In the order of `allCases`, and never renumbered.
    fileprivate var code: UInt8 {
        switch self {
        case .decrypt: 1
        case .encrypt: 2
        case .delete: 3
        case .sign: 4
        case .attest: 5
        case .computeKey: 6
        case .decapsulate: 7
        }
    }
}

extension Constraint {
    fileprivate func encode(
        into bytes: inout [UInt8], depth: Int
    ) throws(KeychainStoreError) {
        guard depth < Self.largestDepth else { throw .tooLarge }
        bytes.append(code)
        guard case .atLeast(let required, let members) = self else { return }
        guard members.count <= Self.mostMembers, let required = Int32(exactly: required)
        else { throw .tooLarge }
        bytes += UInt32(bitPattern: required).littleEndianBytes
        // Safe: at most as many as were checked.
        bytes.append(UInt8(members.count))
        for member in members { try member.encode(into: &bytes, depth: depth + 1) }
    }

    fileprivate init(_ reader: inout ByteReader, depth: Int) throws(MalformedBytes) {
        guard depth < Self.largestDepth else { throw MalformedBytes() }
        let code = try reader.byte()
        guard code == Self.groupCode else {
            guard let plain = Constraint(code: code) else { throw MalformedBytes() }
            self = plain
            return
        }
        let required = Int32(bitPattern: try reader.number(UInt32.self))
        let count = Int(try reader.byte())
        guard count <= Self.mostMembers else { throw MalformedBytes() }
        var members: [Constraint] = []
        for _ in 0..<count { members.append(try Constraint(&reader, depth: depth + 1)) }
        self = .atLeast(required: Int(clamping: required), of: members)
    }
}

/// An item's trusted applications as bytes, sealed with its attributes.
///
/// count ‖ (identity ‖ strength ‖ when ‖ by whom, empty for the user)…
extension TrustList {
    func encoded() throws(KeychainStoreError) -> [UInt8] {
        guard applications.count <= Self.mostApplications else { throw .tooLarge }
        // Safe: at most as many as were checked.
        var bytes = [UInt8(applications.count)]
        for application in applications {
            let texts = [application.identity, application.listedBy ?? ""]
            guard texts.allSatisfy({ $0.utf8.count <= TrustedApplication.longestIdentity }),
                !application.identity.isEmpty
            else { throw .tooLarge }
            bytes.append(block: texts[0].utf8)
            bytes.append(application.strength.rawValue)
            bytes += application.listedAt.bitPattern.littleEndianBytes
            bytes.append(block: texts[1].utf8)
        }
        return bytes
    }

    init(decoding bytes: [UInt8]) throws(MalformedBytes) {
        var reader = ByteReader(bytes)
        let count = Int(try reader.byte())
        guard count <= Self.mostApplications else { throw MalformedBytes() }
        var applications: [TrustedApplication] = []
        for _ in 0..<count { applications.append(try Self.application(&reader)) }
        self.init(applications)
        // One list has one encoding.
        guard reader.isAtEnd, self.applications == applications else { throw MalformedBytes() }
    }

    private static func application(
        _ reader: inout ByteReader
    ) throws(MalformedBytes) -> TrustedApplication {
        let identity = try reader.text()
        guard !identity.isEmpty, let strength = ProgramStrength(rawValue: try reader.byte()) else {
            throw MalformedBytes()
        }
        let listedAt = Double(bitPattern: try reader.number(UInt64.self))
        let listedBy = try reader.text()
        guard listedAt.isFinite,
            max(identity.utf8.count, listedBy.utf8.count) <= TrustedApplication.longestIdentity
        else { throw MalformedBytes() }
        return TrustedApplication(
            identity, strength: strength, listedBy: listedBy.isEmpty ? nil : listedBy,
            listedAt: listedAt)
    }
}
