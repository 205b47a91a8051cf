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

    init(_ itemClass: ItemClass) {
        self =
            switch itemClass {
            case .genericPassword: .genericPassword
            case .internetPassword: .internetPassword
            case .certificate: .certificate
            case .key: .key
            }
    }
}
