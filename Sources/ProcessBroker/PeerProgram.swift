// SPDX-License-Identifier: Apache-2.0
internal import CPeer
package import KeychainLinuxSystem

/// The program at the other end of a socket.
package enum PeerProgram {
    /// Whether root runs one of these installed programs there, in the same installation as this
    /// process sees. Takes the right to trace.
    package static func runs(_ connection: Descriptor, one programs: [String]) -> Bool {
        programs.contains { program in
            // Safe: reads the path, and what the kernel says of the connection's peer.
            unsafe kc_peer_runs(connection.number, program)
        }
    }
}
