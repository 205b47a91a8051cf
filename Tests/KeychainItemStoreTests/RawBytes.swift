// SPDX-License-Identifier: Apache-2.0
import Foundation

/// A file as a thief of the disk sees it.
func rawBytes(_ path: String) throws -> [UInt8] {
    [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
}

extension [UInt8] {
    func contains(_ part: [UInt8]) -> Bool { Data(self).range(of: Data(part)) != nil }
}
