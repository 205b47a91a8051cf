// SPDX-License-Identifier: Apache-2.0
internal import KeychainLinuxSystem
internal import KeychainModel

/// The desktop's portal, which requests secrets for applications (docs/design/identity.md, Relayed
/// programs).
///
/// The application's name is the portal's claim. Any program outside sandboxes can take over the
/// portal's process, as any other process of its user; no program inside a sandbox can.
enum DesktopPortal {
    /// Whether the process runs the installed portal, a file of root's.
    static func runs(
        _ process: PinnedProcess, _ program: ProgramLook, _ looks: any ProcessLooks
    ) -> Bool {
        guard
            case .trustedExecutable(let path) = RelayedIdentity.identity(
                of: process, running: program, looks)
        else { return false }
        return PortalApplication.portals.contains(path)
    }
}
