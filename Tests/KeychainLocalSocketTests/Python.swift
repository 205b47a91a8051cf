// SPDX-License-Identifier: Apache-2.0
import Glibc

@testable import KeychainLocalSocket

/// A program of its own, ended with the test.
final class Python {
    /// Speaks our frames.
    static let frames = """
        import os, socket, struct, sys
        def frame(nonce, sequence, message, secrets=b""):
            return struct.pack("<IHHIIQ", 0x3146434b, 1, 0, len(message), len(secrets),
                               sequence) + nonce + message + secrets
        def hello(path):
            s = socket.socket(socket.AF_UNIX)
            s.connect(path)
            return s, s.recv(24, socket.MSG_WAITALL)[8:]

        """

    private let child: ChildProcess
    var id: Int32 { child.id }

    init(
        _ program: String, _ arguments: [String] = [], environment: [String] = [],
        passing: [(source: Int32, target: Int32)] = [], newSession: Bool = false
    ) throws {
        child = try ChildProcess(
            executable: "/usr/bin/python3", arguments: ["-c", program] + arguments,
            environment: environment, passing: passing, newSession: newSession)
    }

    func status() -> ExitStatus? { child.wait(deadlineSeconds: 20) }
    func end() { child.kill() }
}
