// SPDX-License-Identifier: Apache-2.0
internal import KeychainLinuxSystem
internal import KeychainModel

/// The desktop's portal, which asks for the secrets of applications (docs/design/identity.md, Relayed
/// programs).
///
/// Which application asks is the portal's word. Any program outside of sandboxes can take its process
/// over, as any other of its user's, and none within one.
enum DesktopPortal {
    /// Whether the process runs the portal that is installed, a file of root's.
    static func runs(_ process: PinnedProcess) -> Bool {
        guard case .trustedExecutable(let path) = RelayedIdentity.identity(of: process) else {
            return false
        }
        return PortalApplication.portals.contains(path)
    }
}
