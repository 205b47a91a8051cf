// SPDX-License-Identifier: Apache-2.0
internal import AccountDatabase
internal import CallerIdentity
internal import KeychainLinuxSystem
internal import KeychainRequestAudit
internal import KeychainUserPresence
internal import KeychainVaults
internal import LoginRegistry
internal import SessionVault

/// The parts of the daemon by which logins affect keychains.
struct DaemonParts: Sendable {
    let folder: KeychainFolder
    let protectors: Protectors
    let vault: KernelVault
    let sessions: SessionRegistry
    let pending: PendingUnlocks
    let evidence: EvidenceStore
    let guesses: UnlockThrottle
    let accounts: AccountNames
    let looks: any ProcessLooks
    let audit: AuditLog
    let log: @Sendable (String) -> Void
}
