// SPDX-License-Identifier: Apache-2.0

/// What of an item an answer carries (`kSecReturn…`).
public struct ReturnFields: OptionSet, Sendable, Hashable {
    public let rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }
    public static let data = ReturnFields(rawValue: 1)
    public static let attributes = ReturnFields(rawValue: 2)
    public static let reference = ReturnFields(rawValue: 4)
    public static let persistentReference = ReturnFields(rawValue: 8)
}
