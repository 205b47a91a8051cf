// SPDX-License-Identifier: Apache-2.0
package import KeychainModel

/// The table of all verbs. A number that was used once stays that verb's.
package enum Verbs {
    package static let all: [any Verb.Type] = [
        Add.self,  // 1
        CopyMatching.self,  // 2
        Update.self,  // 3
        Delete.self,  // 4
        Status.self,  // 5
        CreateKeychain.self,  // 6
        Unlock.self,  // 7
        Lock.self,  // 8
        ChangeSettings.self,  // 9
        SetPassword.self,  // 10
        Authenticate.self,  // 11
        ReadCapabilities.self,  // 12
        EndContext.self,  // 13
        Policies.self,  // 14
        Preferences.self,  // 15
        ListProtectors.self,  // 16
        AddProtector.self,  // 17
        RemoveProtector.self,  // 18
        TestProtector.self,  // 19
        UnlockWithProtector.self,  // 20
        CheckKeychain.self,  // 21
        ListGenerations.self,  // 22
        BeginBackup.self,  // 23
        ReadBackup.self,  // 24
        BeginRestore.self,  // 25
        SendRestore.self,  // 26
        FinishRestore.self,  // 27
        RestoreGeneration.self,  // 28
    ]

    /// nil for a verb of a newer version.
    package static func type(_ number: UInt16) -> (any Verb.Type)? {
        let position = Int(clamping: number) - 1
        return all.indices.contains(position) ? all[position] : nil
    }
}

/// Answers each verb: leaving one out does not compile.
package protocol VerbHandler {
    associatedtype Peer

    func handle(_ verb: Add, for client: Peer) throws(RequestError) -> Item
    func handle(
        _ verb: CopyMatching, for client: Peer, emit: ([Item]) throws(RequestError) -> Void
    ) throws(RequestError) -> [Item]
    func handle(_ verb: Update, for client: Peer) throws(RequestError) -> Int
    func handle(_ verb: Delete, for client: Peer) throws(RequestError) -> Int
    func handle(_ verb: Status, for client: Peer) throws(RequestError) -> ServiceStatus
    func handle(_ verb: CreateKeychain, for client: Peer) throws(RequestError) -> Done
    func handle(_ verb: Unlock, for client: Peer) throws(RequestError) -> Done
    func handle(_ verb: Lock, for client: Peer) throws(RequestError) -> Done
    func handle(_ verb: ChangeSettings, for client: Peer) throws(RequestError) -> Done
    func handle(_ verb: SetPassword, for client: Peer) throws(RequestError) -> Done
    func handle(_ verb: Authenticate, for client: Peer) throws(RequestError) -> Done
    func handle(_ verb: ReadCapabilities, for client: Peer) throws(RequestError) -> Capabilities
    func handle(_ verb: EndContext, for client: Peer) throws(RequestError) -> Done
    func handle(_ verb: Policies, for client: Peer) throws(RequestError) -> String
    func handle(_ verb: Preferences, for client: Peer) throws(RequestError) -> KeychainPreferences
    func handle(_ verb: ListProtectors, for client: Peer) throws(RequestError) -> [Protector]
    func handle(_ verb: AddProtector, for client: Peer) throws(RequestError) -> Protector
    func handle(_ verb: RemoveProtector, for client: Peer) throws(RequestError) -> Done
    func handle(_ verb: TestProtector, for client: Peer) throws(RequestError) -> Done
    func handle(_ verb: UnlockWithProtector, for client: Peer) throws(RequestError) -> Done
    func handle(_ verb: CheckKeychain, for client: Peer) throws(RequestError) -> KeychainFindings
    func handle(_ verb: ListGenerations, for client: Peer) throws(RequestError) -> [Generation]
    func handle(_ verb: BeginBackup, for client: Peer) throws(RequestError) -> BackupTransfer
    func handle(_ verb: ReadBackup, for client: Peer) throws(RequestError) -> BackupPiece
    func handle(_ verb: BeginRestore, for client: Peer) throws(RequestError) -> BackupTransfer
    func handle(_ verb: SendRestore, for client: Peer) throws(RequestError) -> Done
    func handle(_ verb: FinishRestore, for client: Peer) throws(RequestError) -> RestoredKeychain
    func handle(_ verb: RestoreGeneration, for client: Peer) throws(RequestError)
        -> RestoredKeychain
}
