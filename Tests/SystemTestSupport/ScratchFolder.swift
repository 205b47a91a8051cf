// SPDX-License-Identifier: Apache-2.0
internal import Foundation
internal import Glibc

/// A folder for one test, removed when the test ends.
package final class ScratchFolder: Sendable {
    package let path: String

    package init(below parent: String = "/tmp", mode: UInt32 = 0o700) throws {
        path = "\(parent)/keychain-system-test.\(UInt32.random(in: 0...UInt32.max))"
        try FileManager.default.createDirectory(
            atPath: path, withIntermediateDirectories: false)
        chmodOrFail(path, mode)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    package func callAsFunction(_ name: String) -> String { path + "/" + name }

    package func write(_ name: String, _ text: String, mode: UInt32) -> String {
        let path = self(name)
        let isMade = FileManager.default.createFile(atPath: path, contents: Data(text.utf8))
        precondition(isMade, "create \(path)")
        chmodOrFail(path, mode)
        return path
    }

    package var names: [String] {
        (try? FileManager.default.contentsOfDirectory(atPath: path))?.sorted() ?? []
    }
}

package func chmodOrFail(_ path: String, _ mode: UInt32) {
    precondition(unsafe chmod(path, mode) == 0, "chmod \(path)")
}

/// The type and the permissions of the file at the path; nil where there is none.
package func mode(of path: String) -> UInt32? {
    var status = stat()
    return unsafe lstat(path, &status) == 0 ? status.st_mode : nil
}

package let isRoot = geteuid() == 0
