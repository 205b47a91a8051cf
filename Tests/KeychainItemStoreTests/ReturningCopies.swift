// SPDX-License-Identifier: Apache-2.0
import Foundation
import KeychainLinuxSystem
import KeychainRows
import KeychainSecrets

@testable import KeychainItemStore

extension ReturningKeychain {
    /// Of a copy that this process reads itself, into a file beside it.
    init(_ copy: String, owner: KeychainOwner, deviceKey: borrowing SealingKey) throws {
        try self.init(
            from: .reading(copy), through: OwnProcessReader(),
            at: "\(copy).returning-\(UUID().uuidString)", owner: owner, deviceKey: deviceKey)
    }
}
