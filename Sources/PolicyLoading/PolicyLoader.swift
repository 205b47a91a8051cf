// SPDX-License-Identifier: Apache-2.0
internal import Dispatch
internal import KeychainAccessControl
internal import KeychainLinuxSystem
internal import KeychainModel
internal import KeychainPolicyEngine
package import KeychainRequestAudit
internal import KeychainSecrets
package import ProgramHandoff
internal import Synchronization

/// Brings the administrator's policies into force: `keychainctl policy compile` reads them as
/// `_keychain-policy`, and this process takes the result. All or nothing: where a file has a
/// mistake, the present policies stay in force.
package final class PolicyLoader: Sendable {
    /// Waits for the end of a series of changes: several files are written one after the other, and
    /// a file in pieces.
    private static let settling: DispatchTimeInterval = .milliseconds(200)
    /// The interval of looks, for file systems that report no changes.
    private static let looking: DispatchTimeInterval = .seconds(60)

    private let compiler: PolicyCompiler
    private let folders: [String]
    private let kept: LastGoodPolicies
    private let policy: any PolicyTaker
    private let log: @Sendable (String) -> Void
    private let queue = DispatchQueue(label: "policies")
    private let watching = Mutex<Watching>(Watching())
    /// Serialises loads, so that an older reading never replaces a newer one.
    private let turn = Mutex<Void>(())
    /// The number of loads that came into force.
    private let taken = Mutex<UInt32>(0)

    private struct File: Equatable {
        let path: String
        let status: FileStatus?
    }

    private struct Watching {
        var seen: [File] = []
        /// The number of the last reported change: a delayed load is dropped where another change
        /// followed.
        var settling = 0
        /// Whether the last load failed for want of its compiler, and is to be tried again.
        var isDue = false
    }

    /// Later folders override earlier ones.
    package init(
        starter: any ProgramStarter, folders: [String], stateFolder: String,
        policy: any PolicyTaker,
        log: @escaping @Sendable (String) -> Void
    ) {
        compiler = PolicyCompiler(starter: starter)
        self.folders = folders
        kept = LastGoodPolicies(stateFolder: stateFolder, mostLevels: folders.count)
        self.policy = policy
        self.log = log
    }

    /// Loads policies at the start, before any is in force.
    package func start() {
        watching.withLock { $0.seen = state() }
        guard let mistake = turn.withLock({ _ in takeUp() }) else { return }
        if let bundle = kept.bundle {
            tell(
                "the last that could be used are in force", bundle.summary, mistake, of: use(bundle)
            )
        } else if !kept.folders.isEmpty, let bundle = try? compiler.bundle(of: kept.folders) {
            tell(
                "the last that could be used were compiled again", bundle.summary, mistake,
                of: use(bundle))
        } else {
            tell(
                "none could be used; secrets take the password, nothing is exported or shared",
                mistake,
                of: use(.whenBroken))
        }
    }

    /// Watches the folders from now on, and loads changes.
    package func watch() {
        do throws(SystemError) {
            let watch = try FolderWatch(folders)
            let isWatching = DetachedThread.start { [weak self] in
                while self != nil, (try? watch.wait()) != nil { self?.settle() }
            }
            if !isWatching { tellNotWatching() }
        } catch { tellNotWatching() }
        // A file may have changed since the start.
        look(after: .seconds(0))
    }

    private func tellNotWatching() { log("policies: changes are looked for once a minute only") }

    private func look(after delay: DispatchTimeInterval) {
        queue.asyncAfter(deadline: .now() + delay) { [weak self] in
            self?.loadIfChanged()
            self?.look(after: Self.looking)
        }
    }

    private func settle() {
        let number = watching.withLock { watching in
            watching.settling += 1
            return watching.settling
        }
        queue.asyncAfter(deadline: .now() + Self.settling) { [weak self] in
            guard let self, watching.withLock({ $0.settling }) == number else { return }
            loadIfChanged()
        }
    }

    /// Loads the present files. Returns false where they can't be used and the policies in force
    /// stay.
    @discardableResult
    package func load() -> Bool {
        turn.withLock { _ in
            guard let mistake = takeUp() else { return true }
            let parts = mistake.split(separator: "\n", maxSplits: 1).map(String.init)
            tell(
                (parts.first ?? "") + "; what was in force stays in force",
                parts.dropFirst().first ?? "")
            return false
        }
    }

    /// Loads the present files. Returns the mistake, in short on its first line; nil where all is
    /// in force.
    private func takeUp() -> String? {
        do throws(PolicyFailure) {
            let present = folders.filter { FileStatus($0) != nil }
            let bundle = try compiler.bundle(of: present)
            let load = use(bundle, of: present)
            kept.keep(bundle)
            let text = "\(bundle.policy.statementCount) rules in force\n\(bundle.summary)"
            tell(PolicyReport(text: text, load: load))
            watching.withLock { $0.isDue = false }
            return nil
        } catch {
            watching.withLock { $0.isDue = error.isOfCompiler }
            return error.words
        }
    }

    /// Loads the files if any has changed, or if they could not be compiled for another reason than
    /// their words.
    func loadIfChanged() {
        let now = state()
        let isDue = watching.withLock { watching in
            defer { watching.seen = now }
            return watching.isDue || watching.seen != now
        }
        if isDue { load() }
    }

    /// Reports that the policies in force differ from the files.
    private func tell(_ parts: String..., of load: PolicyLoad? = nil) {
        let text = parts.filter { !$0.isEmpty }.joined(separator: "\n")
        tell(PolicyReport(isDegraded: true, text: text, load: load))
    }

    private func tell(_ report: PolicyReport) {
        policy.tell(report)
        log("policies: " + report.text)
    }

    /// `folders` contain the files that the bundle was made of.
    @discardableResult
    private func use(_ bundle: PolicyBundle, of folders: [String] = []) -> PolicyLoad {
        let number = taken.withLock { taken in
            taken += 1
            return taken
        }
        let revision = PolicyRevision(
            hash: KeyedHash.fingerprint(bundle.policy.snapshot), number: number)
        policy.use(bundle, revision)
        let files = bundle.sources.filter { folders.indices.contains($0.level) }.map { file in
            PolicyLoad.File(
                path: "\(folders[file.level])/\(file.name)",
                hash: KeyedHash.fingerprint(file.bytes).prefix(6).hexadecimal)
        }
        return PolicyLoad(
            rules: bundle.policy.statementCount, files: files,
            weakened: bundle.summary.split(separator: "\n").map(String.init)
                .filter { $0.hasPrefix("weakened: ") }.map { String($0.dropFirst(10)) })
    }

    /// The paths of all files, with the status that changes when a file does.
    private func state() -> [File] {
        folders.flatMap { folder in
            FolderNames.all(in: folder).filter { $0.hasSuffix(".yaml") }.sorted().map { name in
                File(path: "\(folder)/\(name)", status: FileStatus("\(folder)/\(name)"))
            }
        }
    }
}
