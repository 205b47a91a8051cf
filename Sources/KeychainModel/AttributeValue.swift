// SPDX-License-Identifier: Apache-2.0

/// The value of an attribute, of the type it was given in and is returned in.
///
/// Text compares by its UTF-8 bytes: no case folding, no Unicode normalisation.
public enum AttributeValue: Sendable {
    case string(String)
    case data([UInt8])
    case number(Int64)
    /// Seconds since 2001-01-01T00:00:00Z.
    case date(Double)
    /// A number that is not whole.
    case real(Double)

    /// The bytes that hashing attributes compare: a text and data of the same bytes are the same.
    public var comparedBytes: [UInt8] {
        switch self {
        case .string(let text): Array(text.utf8)
        case .data(let bytes): bytes
        case .number(let number): Array(String(number).utf8)
        case .date(let seconds), .real(let seconds):
            withoutSign(seconds).littleEndianBytes
        }
    }

    /// Whether there are none.
    public var isEmptyCompared: Bool {
        switch self {
        case .string(let text): text.utf8.isEmpty
        case .data(let bytes): bytes.isEmpty
        case .number, .date, .real: false
        }
    }

    /// Whether those of the other are the same.
    public func isSameCompared(_ other: AttributeValue) -> Bool {
        switch (self, other) {
        case (.string(let a), .string(let b)): a.utf8.elementsEqual(b.utf8)
        case (.data(let a), .data(let b)): a == b
        default: comparedBytes == other.comparedBytes
        }
    }

    private func withoutSign(_ value: Double) -> UInt64 { (value == 0 ? 0 : value).bitPattern }
}

extension AttributeValue: Hashable {
    public static func == (a: Self, b: Self) -> Bool {
        switch (a, b) {
        case (.string(let a), .string(let b)): a.utf8.elementsEqual(b.utf8)
        case (.data(let a), .data(let b)): a == b
        case (.number(let a), .number(let b)): a == b
        case (.date(let a), .date(let b)), (.real(let a), .real(let b)): a == b
        case (.string, _), (.data, _), (.number, _), (.date, _), (.real, _): false
        }
    }

    public func hash(into hasher: inout Hasher) { hasher.combine(comparedBytes) }
}

extension UInt64 {
    fileprivate var littleEndianBytes: [UInt8] {
        (0..<8).map { UInt8(truncatingIfNeeded: self >> ($0 * 8)) }
    }
}

/// Attributes by name. The access control and the accessibility travel beside them, typed.
public typealias Attributes = [AttributeName: AttributeValue]
