// SPDX-License-Identifier: Apache-2.0
internal import KeychainLinuxSystem
internal import KeychainPolicyEngine
internal import KeychainRequestAudit
internal import KeychainSecrets
internal import LoginManager
internal import Synchronization
internal import WorkerHandoff

/// An order and the descriptor that goes with it.
struct Handover: Sendable {
    let order: WorkerOrder
    let passed: Descriptor?

    init(_ order: WorkerOrder, passing passed: Descriptor? = nil) {
        self.order = order
        self.passed = passed
    }
}

/// All that a worker gets when it begins, beside what is its user's own.
final class WorkerSupplies: Sendable {
    private struct State {
        var policy: [Handover] = []
        /// nil where logind can't be heard.
        var lockedScreens: Set<String>?
        var areSeveralUsers = false
    }

    private let folders: (state: String, runtime: String)
    private let deviceKey: Descriptor
    private let credentials: [(name: String, secret: Descriptor)]
    private let state = Mutex(State())

    init(
        folders: (state: String, runtime: String), deviceKey: borrowing SecretBytes,
        credentials: [String: HeldSecret]
    ) throws(SystemError) {
        self.folders = folders
        self.deviceKey = try SealedMemory.make("keychain:device-key", contents: deviceKey)
        var memories: [(String, Descriptor)] = []
        for (name, secret) in credentials {
            let memory = try SealedMemory.make("keychain:credential", contents: secret.bytes)
            memories.append((name, memory))
        }
        self.credentials = memories
    }

    /// In the order in which they are sent.
    func all(for beginning: WorkerOrder.Beginning, _ vaultKey: VaultKeys.Stored?) -> [Handover] {
        var all = [
            Handover(.begin(beginning)), Handover(.stateFolder(folders.state)),
            Handover(.runtimeFolder(folders.runtime)), Handover(.deviceKey, passing: deviceKey),
        ]
        if let vaultKey {
            all.append(Handover(.vaultKey(vaultKey.place), passing: vaultKey.memory))
        }
        all += credentials.map { Handover(.credential($0.name), passing: $0.secret) }
        state.withLock { state in
            all += state.policy
            if let locked = state.lockedScreens { all += Self.presence(locked, id: 0) }
            all.append(Handover(.severalUsers(state.areSeveralUsers)))
        }
        all.append(Handover(.started))
        return all
    }

    /// logind is there, and these screens are locked. One order for all of them: a socket may not hold as
    /// many orders as one user can have sessions. Where there is no room for them, logind counts as absent.
    static func presence(_ lockedScreens: Set<String>, id: UInt32) -> [Handover] {
        let names = Array(lockedScreens.sorted().joined(separator: "\n").utf8)
        guard let memory = try? SealedMemory.make("keychain:locked-screens", bytes: names) else {
            return [Handover(.event(id: id, .absent))]
        }
        return [
            Handover(.lockedScreens, passing: memory),
            Handover(.event(id: id, .present(lockedScreens: []))),
        ]
    }

    // MARK: What changes

    /// The policies in force, once `tell` has been called.
    func use(_ bundle: PolicyBundle, number: UInt32) {
        guard
            let memory = try? SealedMemory.make(
                "keychain:policy", bytes: bundle.withoutSources.bytes)
        else { return }
        state.withLock { state in
            state.policy = [Handover(.policy(number), passing: memory)]
        }
    }

    /// What the workers are told of the policies in force, which come first.
    func tell(_ report: PolicyReport, id: UInt32) -> [Handover] {
        state.withLock { state in
            let text = try? SealedMemory.make(
                "keychain:policy-report", bytes: Array(report.text.utf8))
            let bundle = state.policy.first
            func told(_ id: UInt32) -> [Handover] {
                [
                    bundle,
                    Handover(
                        .policyReport(id: id, isDegraded: report.isDegraded), passing: text),
                ].compactMap { $0 }
            }
            state.policy = told(0)
            return told(id)
        }
    }

    func note(_ event: LoginManagerEvent) {
        state.withLock { state in
            switch event {
            case .present(let locked): state.lockedScreens = locked
            case .absent: state.lockedScreens = nil
            case .screen(let session, true): state.lockedScreens?.insert(session)
            case .screen(let session, false), .sessionEnded(let session):
                state.lockedScreens?.remove(session)
            case .lockRequested, .userLeft, .sleeping, .mayHibernate, .shuttingDown: break
            }
        }
    }

    /// Returns false where workers know it already.
    func changes(severalUsers are: Bool) -> Bool {
        state.withLock { state in
            defer { state.areSeveralUsers = are }
            return state.areSeveralUsers != are
        }
    }
}
