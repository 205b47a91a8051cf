// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc

/// A folder of one test's own, gone when the test is.
final class ScratchFolder: Sendable {
    let path: String

    init(below parent: String = "/tmp", mode: UInt32 = 0o700) throws {
        path = "\(parent)/keychain-socket-test.\(UInt32.random(in: 0...UInt32.max))"
        try FileManager.default.createDirectory(
            atPath: path, withIntermediateDirectories: false)
        chmodOrFail(path, mode)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    func callAsFunction(_ name: String) -> String { path + "/" + name }

    func write(_ name: String, _ text: String, mode: UInt32) -> String {
        let path = self(name)
        let isMade = FileManager.default.createFile(atPath: path, contents: Data(text.utf8))
        precondition(isMade, "create \(path)")
        chmodOrFail(path, mode)
        return path
    }

    var names: [String] {
        (try? FileManager.default.contentsOfDirectory(atPath: path))?.sorted() ?? []
    }
}

func chmodOrFail(_ path: String, _ mode: UInt32) {
    precondition(unsafe chmod(path, mode) == 0, "chmod \(path)")
}

/// Type and permissions of what lies at the path; nil where nothing does.
func mode(of path: String) -> UInt32? {
    var status = stat()
    return unsafe lstat(path, &status) == 0 ? status.st_mode : nil
}

let isRoot = geteuid() == 0
