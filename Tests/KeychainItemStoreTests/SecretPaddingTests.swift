// SPDX-License-Identifier: Apache-2.0
import KeychainSecrets
import Testing

@testable import KeychainItemStore

@Suite struct SecretPaddingTests {
    private func unpadded(_ padded: borrowing SecretBytes) -> [UInt8]? {
        guard let secret = SecretPadding.unpad(padded.copy()) else { return nil }
        return secret.releasedFromLockedMemory()
    }

    @Test func `a padded secret is a multiple of 32 bytes and comes back`() throws {
        for count in 0..<130 {
            let secret = SecretBytes(copying: RandomBytes.make(count))
            let padded = try SecretPadding.pad(secret)
            #expect(padded.count % 32 == 0)
            #expect(padded.count - count <= 4 + 31)
            #expect(unpadded(padded) == secret.releasedFromLockedMemory())
        }
    }

    @Test func `what is not padded so is nothing`() {
        let wrong: [[UInt8]] = [
            [], [0], [UInt8](repeating: 0, count: 31), [UInt8](repeating: 0, count: 64),
            [29, 0, 0, 0] + [UInt8](repeating: 0, count: 28),
            [255, 255, 255, 255] + [UInt8](repeating: 0, count: 28),
        ]
        for bytes in wrong {
            #expect(unpadded(SecretBytes(copying: bytes)) == nil)
        }
    }
}
