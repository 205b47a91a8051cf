// SPDX-License-Identifier: Apache-2.0
package import KeychainLinuxSystem
internal import CKeychainLinux
internal import Glibc

/// A peer's connection that this process passes to another one, and then closes its copy of.
package final class PassedSocket: Sendable {
    package let descriptor: Descriptor

    init(_ number: Int32) { descriptor = Descriptor(owning: number) { kc_close_copy($0) } }

    /// Ends the connection, where it can't be passed.
    package func refuse() { _ = shutdown(descriptor.number, Int32(SHUT_RDWR)) }

    /// Owns a peer's connection that another process has passed, and ends it at the end.
    package static func owned(_ number: Int32) -> Descriptor {
        Descriptor(owning: number) { kc_close_peer($0) }
    }

    /// Owns a copy of a connection that goes on elsewhere.
    package static func copy(_ number: Int32) -> Descriptor {
        Descriptor(owning: number) { kc_close_copy($0) }
    }
}
