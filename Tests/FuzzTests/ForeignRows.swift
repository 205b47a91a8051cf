// SPDX-License-Identifier: Apache-2.0
import Foundation
import KeychainLinuxSystem
import KeychainRows
import KeychainSecrets
import SystemTestSupport

@testable import KeychainItemStore

/// What the process that reads a foreign keychain file says of it: each row that is taken is one that
/// could stand in a keychain, and what a daemon makes of all of them is a keychain, or is refused.
enum ForeignRows {
    private struct Said: ForeignReader {
        let bytes: Descriptor

        func read(_ file: Descriptor, _ body: (ForeignRecord) throws -> Void) throws {
            let input = DescriptorInput(bytes, atMost: .max, until: .now + .seconds(5))
            var hasVersion = false
            try RowReader(from: input).forEach { record in
                if case .version = record { hasVersion = true }
                try require(hasVersion, "a row comes before the version")
                try body(record)
            }
        }
    }

    static func read(_ bytes: [UInt8]) throws -> Bool {
        let folder = try ScratchFolder(below: "/dev/shm")
        let path = folder("rows")
        let made = FileManager.default.createFile(atPath: path, contents: Data(bytes))
        try require(made, "\(path) could not be made")
        return try DamagedKeychain.isReturned(
            from: .reading(path), through: Said(bytes: .reading(path)), in: folder)
    }

    /// The rows of the fuzzers' keychain.
    static func seed() throws -> [UInt8] {
        let folder = try ScratchFolder(below: "/dev/shm")
        let path = folder("rows")
        try RowWriter(to: .creating(path)).write(.reading(DamagedKeychain.path))
        return [UInt8](FileManager.default.contents(atPath: path) ?? Data())
    }
}
