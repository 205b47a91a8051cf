// SPDX-License-Identifier: Apache-2.0
internal import ArgumentParser
internal import KeychainModel

/// The classes of items by the names people use.
enum ItemKind: String, ExpressibleByArgument, CaseIterable {
    case genericPassword = "generic-password"
    case internetPassword = "internet-password"
    case certificate
    case key

    var itemClass: ItemClass {
        switch self {
        case .genericPassword: .genericPassword
        case .internetPassword: .internetPassword
        case .certificate: .certificate
        case .key: .key
        }
    }

    var isPassword: Bool { self == .genericPassword || self == .internetPassword }

    /// nil for a class that has commands of its own.
    init?(_ itemClass: ItemClass) {
        switch itemClass {
        case .genericPassword: self = .genericPassword
        case .internetPassword: self = .internetPassword
        case .certificate: self = .certificate
        case .key: self = .key
        case .attributed: return nil
        }
    }
}
