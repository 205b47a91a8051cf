// SPDX-License-Identifier: Apache-2.0
import SystemTestSupport

extension Python {
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
}
