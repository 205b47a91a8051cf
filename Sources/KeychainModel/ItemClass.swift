// SPDX-License-Identifier: Apache-2.0

/// The kinds of item that have a table of their own (docs/secitem.md, Item classes).
public enum ItemClass: UInt8, Sendable, Hashable, CaseIterable {
    case genericPassword = 1
    case internetPassword = 2
    case certificate = 3
    case key = 4

    /// The value that `kSecClass` and persistent references use.
    public var code: String {
        switch self {
        case .genericPassword: "genp"
        case .internetPassword: "inet"
        case .certificate: "cert"
        case .key: "keys"
        }
    }

    public init?(code: String) {
        guard let found = Self.allCases.first(where: { $0.code == code }) else { return nil }
        self = found
    }
}
