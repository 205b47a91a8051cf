// SPDX-License-Identifier: Apache-2.0
internal import Foundation
internal import LocalSocket

extension Listener {
    private static let stackBytes = 512 * 1024

    /// A thread for each connection; returns when the listener is shut down.
    func serve(_ welcome: @escaping @Sendable (Descriptor) -> Void) {
        while true {
            let descriptor: Descriptor
            do { descriptor = try accept() } catch {
                if error == .closed { return }
                continue
            }
            let thread = Thread { welcome(descriptor) }
            thread.stackSize = Self.stackBytes
            thread.start()
        }
    }
}
