// SPDX-License-Identifier: Apache-2.0
internal import ArgumentParser
internal import KeychainModel

/// The classes of items by the names people use.
enum ItemKind: String, ExpressibleByArgument, CaseIterable {
    case genericPassword = "generic-password"
    case internetPassword = "internet-password"

    var itemClass: ItemClass {
        switch self {
        case .genericPassword: .genericPassword
        case .internetPassword: .internetPassword
        }
    }

    init(_ itemClass: ItemClass) {
        self =
            switch itemClass {
            case .genericPassword: .genericPassword
            case .internetPassword: .internetPassword
            }
    }
}
