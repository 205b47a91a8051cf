// SPDX-License-Identifier: Apache-2.0
internal import FoundationEssentials
package import KeychainModel
package import KeychainWire

extension AttributeValue {
    package var wire: WireValue {
        var value = WireValue()
        switch self {
        case .string(let text): value.text = text
        case .data(let bytes): value.data = .init(bytes)
        case .number(let number): value.number = number
        case .date(let seconds): value.date = seconds
        case .real(let real): value.real = real
        }
        return value
    }

    package init(_ value: WireValue) throws(MessageError) {
        switch value.kind {
        case .text(let text): self = .string(text)
        case .data(let bytes): self = .data(.init(bytes))
        case .number(let number): self = .number(number)
        case .date(let seconds): self = .date(seconds)
        case .real(let real): self = .real(real)
        case nil: throw .malformed
        }
    }
}

package enum AttributesCoding {
    package static func wire(_ attributes: Attributes) -> [WireAttribute] {
        attributes.map { name, value in
            var attribute = WireAttribute()
            attribute.name = name.rawValue
            attribute.value = value.wire
            return attribute
        }
    }

    package static func attributes(_ wire: [WireAttribute]) throws(MessageError) -> Attributes {
        var attributes: Attributes = [:]
        for attribute in wire {
            let name = AttributeName(rawValue: attribute.name)
            let value = try AttributeValue(attribute.value)
            guard attributes.updateValue(value, forKey: name) == nil else { throw .malformed }
        }
        return attributes
    }
}

extension Constraint {
    package var wire: WireConstraint {
        var wire = WireConstraint()
        switch self {
        case .always: wire.kind = 0
        case .never: wire.kind = 1
        case .userPresence: wire.kind = 2
        case .devicePasscode: wire.kind = 3
        case .biometryAny: wire.kind = 4
        case .biometryCurrentSet: wire.kind = 5
        case .companion: wire.kind = 6
        case .atLeast(let required, let members):
            wire.kind = 7
            wire.required = UInt32(clamping: required)
            wire.members = members.map(\.wire)
        }
        return wire
    }

    package init(_ wire: WireConstraint, depth: Int = 0) throws(MessageError) {
        guard depth < Self.largestDepth else { throw .malformed }
        switch wire.kind {
        case 0: self = .always
        case 1: self = .never
        case 2: self = .userPresence
        case 3: self = .devicePasscode
        case 4: self = .biometryAny
        case 5: self = .biometryCurrentSet
        case 6: self = .companion
        case 7:
            guard wire.members.count <= Self.mostMembers else { throw .malformed }
            var members: [Constraint] = []
            for member in wire.members {
                members.append(try Constraint(member, depth: depth + 1))
            }
            self = .atLeast(required: Int(clamping: wire.required), of: members)
        default: throw .malformed
        }
    }
}

extension ItemAccessControl {
    package var wire: WireAccessControl {
        var wire = WireAccessControl()
        wire.protection = UInt32(protection.rawValue)
        wire.entries = operations.map { operation, constraint in
            var entry = WireAccessControl.Entry()
            entry.operation = operation.rawValue
            entry.constraint = constraint.wire
            return entry
        }
        if let defaultOperation { wire.defaultOperation = defaultOperation.wire }
        wire.needsApplicationPassword = needsApplicationPassword
        return wire
    }

    package init(_ wire: WireAccessControl) throws(MessageError) {
        var operations: [ItemOperation: Constraint] = [:]
        for entry in wire.entries {
            guard let operation = ItemOperation(rawValue: entry.operation) else {
                throw .malformed
            }
            operations[operation] = try Constraint(entry.constraint)
        }
        self.init(
            protection: try Accessibility(wire: wire.protection), operations: operations,
            defaultOperation: wire.hasDefaultOperation
                ? try Constraint(wire.defaultOperation) : nil,
            needsApplicationPassword: wire.needsApplicationPassword)
    }
}

extension Accessibility {
    package init(wire: UInt32) throws(MessageError) {
        guard let byte = UInt8(exactly: wire), let found = Accessibility(rawValue: byte) else {
            throw .malformed
        }
        self = found
    }
}

extension ItemClass {
    package init(wire: UInt32) throws(MessageError) {
        guard let byte = UInt8(exactly: wire), let found = ItemClass(rawValue: byte) else {
            throw .malformed
        }
        self = found
    }
}
