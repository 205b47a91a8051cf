// SPDX-License-Identifier: Apache-2.0
package import KeychainLinuxSystem

/// A connection of a program, which waits to be served.
package struct IncomingConnection: Sendable {
    package let descriptor: Descriptor
    /// One end of the way to root's worker, for a program that may search the machine's keychain.
    package let machine: Descriptor?

    package init(_ descriptor: Descriptor, machine: Descriptor? = nil) {
        self.descriptor = descriptor
        self.machine = machine
    }
}

/// Where a server's connections come from: a socket that listens, or another process that accepted
/// them.
package protocol ConnectionSource: Sendable {
    /// Waits for the next connection. Throws `.closed` after `shutDown`.
    func next() throws(SocketError) -> IncomingConnection
    func shutDown()
}

extension Listener: ConnectionSource {
    package func next() throws(SocketError) -> IncomingConnection {
        IncomingConnection(try accept())
    }
}
