// SPDX-License-Identifier: Apache-2.0
package import KeychainModel

extension AttributeValue: MessageValue {
    package func encode(into message: inout MessageWriter) {
        switch self {
        case .string(let text):
            message.bytes.append(1)
            message.bytes.append(text: text)
        case .data(let bytes):
            message.bytes.append(2)
            message.bytes.append(block: bytes)
        case .number(let number):
            message.bytes.append(3)
            message.bytes.append(number: UInt64(bitPattern: number))
        case .date(let seconds):
            message.bytes.append(4)
            message.append(seconds)
        case .real(let real):
            message.bytes.append(5)
            message.append(real)
        }
    }

    package init(_ message: inout MessageReader) throws(MalformedBytes) {
        switch try message.bytes.byte() {
        case 1: self = .string(try message.bytes.text())
        case 2: self = .data(Array(try message.bytes.block()))
        case 3: self = .number(Int64(bitPattern: try message.bytes.number(UInt64.self)))
        case 4: self = .date(try message.real())
        case 5: self = .real(try message.real())
        default: throw MalformedBytes()
        }
    }
}

extension MessageWriter {
    mutating func append(_ attributes: Attributes) {
        bytes.append(count: attributes.count)
        for (name, value) in attributes {
            bytes.append(name: name)
            value.encode(into: &self)
        }
    }
}

extension MessageReader {
    /// The bytes of an empty name and an empty value.
    private static var leastAttribute: Int { 9 }

    /// Each name may occur once.
    mutating func attributes() throws(MalformedBytes) -> Attributes {
        let count = try bytes.count(ofAtLeast: Self.leastAttribute)
        guard count <= Attributes.most else { throw MalformedBytes() }
        var attributes = Attributes(minimumCapacity: count)
        for _ in 0..<count {
            let name = try bytes.name()
            guard attributes.updateValue(try value(), forKey: name) == nil else {
                throw MalformedBytes()
            }
        }
        return attributes
    }
}

extension ItemReference: ListElement {
    package static let leastBytes = identifierBytes + 1

    package func encode(into message: inout MessageWriter) {
        message.append(itemClass)
        message.bytes.append(identifierOf: self)
    }

    package init(_ message: inout MessageReader) throws(MalformedBytes) {
        self = try message.bytes.reference(try message.raw())
    }
}

extension Constraint: MessageValue {
    package func encode(into message: inout MessageWriter) {
        message.bytes.append(code)
        guard case .atLeast(let required, let members) = self else { return }
        message.bytes.append(number: UInt32(clamping: required))
        message.append(members)
    }

    package init(_ message: inout MessageReader) throws(MalformedBytes) {
        try self.init(&message, depth: 0)
    }

    private init(_ message: inout MessageReader, depth: Int) throws(MalformedBytes) {
        guard depth < Self.largestDepth else { throw MalformedBytes() }
        let code = try message.bytes.byte()
        guard code == Self.groupCode else {
            guard let plain = Constraint(code: code) else { throw MalformedBytes() }
            self = plain
            return
        }
        let required = Int(clamping: try message.bytes.number(UInt32.self))
        let count = try message.bytes.count(ofAtLeast: 1)
        guard count <= Self.mostMembers else { throw MalformedBytes() }
        var members: [Constraint] = []
        for _ in 0..<count { members.append(try Constraint(&message, depth: depth + 1)) }
        self = .atLeast(required: required, of: members)
    }
}

/// A message has no biometric state: the enrolled set that an item is bound to stays in the
/// service.
extension ItemAccessControl: MessageValue {
    package func encode(into message: inout MessageWriter) {
        message.append(protection)
        message.append(needsApplicationPassword)
        message.append(defaultOperation)
        // Safe: there are seven operations.
        message.bytes.append(UInt8(truncatingIfNeeded: operations.count))
        guard !operations.isEmpty else { return }
        for operation in ItemOperation.allCases {
            guard let constraint = operations[operation] else { continue }
            message.bytes.append(operation.code)
            constraint.encode(into: &message)
        }
    }

    package init(_ message: inout MessageReader) throws(MalformedBytes) {
        let protection = try message.raw(Accessibility.self)
        let needsApplicationPassword = try message.flag()
        let defaultOperation = try message.optional(Constraint.self)
        var operations: [ItemOperation: Constraint] = [:]
        var previous: UInt8 = 0
        for _ in 0..<(try message.bytes.byte()) {
            let code = try message.bytes.byte()
            guard code > previous,
                let operation = ItemOperation(code: code)
            else { throw MalformedBytes() }
            operations[operation] = try message.value()
            previous = code
        }
        self.init(
            protection: protection, operations: operations, defaultOperation: defaultOperation,
            needsApplicationPassword: needsApplicationPassword)
    }
}

extension TrustedApplication: MessageValue {
    package func encode(into message: inout MessageWriter) {
        message.append(identity)
        message.append(strength)
        message.append(listedBy)
        message.append(listedAt)
    }

    package init(_ message: inout MessageReader) throws(MalformedBytes) {
        let identity = try message.bytes.text()
        let strength = try message.raw(ProgramStrength.self)
        let listedBy = try message.optionalText()
        self.init(identity, strength: strength, listedBy: listedBy, listedAt: try message.real())
    }
}

extension TrustList: MessageValue {
    package func encode(into message: inout MessageWriter) { message.append(applications) }

    package init(_ message: inout MessageReader) throws(MalformedBytes) {
        let applications = try message.values(TrustedApplication.self, ofAtLeast: 14)
        guard applications.count <= Self.mostApplications else { throw MalformedBytes() }
        self.init(applications)
    }
}

extension MessageWriter {
    /// Writes programs as application identifiers; an empty one is the program that sends the
    /// message.
    mutating func append(_ programs: [NamedProgram]) {
        bytes.append(count: programs.count)
        for program in programs {
            switch program {
            case .own: append("")
            case .identity(let identity): append(identity)
            }
        }
    }
}

extension MessageReader {
    mutating func programs() throws(MalformedBytes) -> [NamedProgram] {
        let identities = try texts(atMost: TrustList.mostApplications)
        guard identities.allSatisfy({ $0.utf8.count <= TrustedApplication.longestIdentity })
        else { throw MalformedBytes() }
        return identities.map { $0.isEmpty ? .own : .identity($0) }
    }
}

extension TrustChange: MessageValue {
    package func encode(into message: inout MessageWriter) {
        switch self {
        case .replace(let programs):
            message.bytes.append(1)
            message.append(programs)
        case .add(let programs):
            message.bytes.append(2)
            message.append(programs)
        case .remove(let identities):
            message.bytes.append(3)
            message.append(identities.map { NamedProgram.identity($0) })
        case .reset: message.bytes.append(4)
        }
    }

    package init(_ message: inout MessageReader) throws(MalformedBytes) {
        switch try message.bytes.byte() {
        case 1: self = .replace(try message.programs())
        case 2: self = .add(try message.programs())
        case 3:
            self = .remove(
                try message.programs().map { program in
                    if case .identity(let identity) = program { identity } else { "" }
                })
        case 4: self = .reset
        default: throw MalformedBytes()
        }
    }
}

extension Item: ListElement {
    /// The bytes of an item without attributes.
    package static let leastBytes = 28

    package func encode(into message: inout MessageWriter) {
        reference.encode(into: &message)
        message.append(attributes)
        accessControl.encode(into: &message)
        message.append(trusted)
        message.append(keychain)
        message.append(secret)
    }

    package convenience init(_ message: inout MessageReader) throws(MalformedBytes) {
        let reference: ItemReference = try message.value()
        let attributes = try message.attributes()
        let accessControl: ItemAccessControl = try message.value()
        let trusted = try message.optional(TrustList.self)
        let keychain = try message.optionalText()
        self.init(
            reference: reference, attributes: attributes, accessControl: accessControl,
            trusted: trusted, keychain: keychain, secret: try message.optionalSecret())
    }
}

extension ItemQuery: MessageValue {
    package func encode(into message: inout MessageWriter) {
        message.append(itemClass)
        message.append(keychain)
        message.append(attributes)
        message.append(accessible != nil)
        if let accessible { message.append(accessible) }
        message.append(accessGroup)
        message.append(synchronizable)
        message.append(references != nil)
        if let references { message.append(references) }
        message.append(hostOrSubdomain)
        message.append(folding)
        message.append(limit != nil)
        if let limit { message.bytes.append(number: UInt64(bitPattern: Int64(clamping: limit))) }
        message.append(returnFields)
        message.append(authenticationUI)
        message.append(reason)
    }

    package init(_ message: inout MessageReader) throws(MalformedBytes) {
        let itemClass: ItemClass = try message.raw()
        let keychain = try message.optionalText()
        let attributes = try message.attributes()
        let accessible: Accessibility? = try message.flag() ? try message.raw() : nil
        let accessGroup = try message.optionalText()
        let synchronizable: Synchronizable = try message.raw()
        let references: [ItemReference]? =
            try message.flag() ? try message.values(ofAtLeast: 17) : nil
        let host = try message.optionalText()
        let folding = Folding(rawValue: try message.bytes.byte())
        let limit = try message.flag() ? try Self.limit(&message) : nil
        let parts = ReturnFields(rawValue: try message.bytes.byte())
        let authenticationUI: AuthenticationUI = try message.raw()
        self.init(
            of: itemClass, keychain: keychain, attributes: attributes, accessible: accessible,
            accessGroup: accessGroup, synchronizable: synchronizable, references: references,
            hostOrSubdomain: host, folding: folding, limit: limit, returnFields: parts,
            authenticationUI: authenticationUI, reason: try message.optionalText())
    }

    private static func limit(_ message: inout MessageReader) throws(MalformedBytes) -> Int {
        let number = Int64(bitPattern: try message.bytes.number(UInt64.self))
        guard number >= 0 else { throw MalformedBytes() }
        return Int(clamping: number)
    }
}

extension NewItem: MessageValue {
    package func encode(into message: inout MessageWriter) {
        message.append(itemClass)
        message.append(keychain)
        message.append(attributes)
        message.append(accessGroup)
        message.append(isSynchronizable)
        message.append(accessible)
        message.append(accessControl)
        message.append(trusted != nil)
        if let trusted { message.append(trusted) }
        message.append(whenSame)
        message.append(authenticationUI)
        message.append(reason)
    }

    package init(_ message: inout MessageReader) throws(MalformedBytes) {
        self.init(try message.raw())
        keychain = try message.optionalText()
        attributes = try message.attributes()
        accessGroup = try message.optionalText()
        isSynchronizable = try message.flag()
        accessible = try message.raw()
        accessControl = try message.optional()
        trusted = try message.flag() ? try message.programs() : nil
        whenSame = try message.raw()
        authenticationUI = try message.raw()
        reason = try message.optionalText()
    }
}

extension ItemChange: MessageValue {
    package func encode(into message: inout MessageWriter) {
        message.append(attributes)
        message.append(replacesPairs)
        message.append(accessGroup)
        message.append(isSynchronizable != nil)
        if let isSynchronizable { message.append(isSynchronizable) }
        message.append(accessible != nil)
        if let accessible { message.append(accessible) }
        message.append(accessControl)
        message.append(trust)
    }

    package init(_ message: inout MessageReader) throws(MalformedBytes) {
        self.init()
        attributes = try message.attributes()
        replacesPairs = try message.flag()
        accessGroup = try message.optionalText()
        isSynchronizable = try message.flag() ? try message.flag() : nil
        accessible = try message.flag() ? try message.raw() : nil
        accessControl = try message.optional()
        trust = try message.optional()
    }
}
