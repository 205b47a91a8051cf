// SPDX-License-Identifier: Apache-2.0
internal import AccessControl
internal import Foundation
internal import LocalSocket
internal import Secrets
internal import Synchronization

/// Brings the administrator's policies into force: `keychainctl policy compile` reads them, as
/// nobody, and this process takes what comes of it. All or nothing: where a file is mistaken, what
/// was in force stays in force.
public final class PolicyLoader: Sendable {
    private static let deadline = 60.0

    private let compiler: String
    private let folders: [String]
    /// The last that could be used, for a start beside files that can't.
    private let stateFolder: String
    private let lastGood: String
    private let policy: PolicyInForce
    private let log: @Sendable (String) -> Void
    private let seen = Mutex<[String]>([])

    /// Later folders win. `compiler` is the installed keychainctl.
    public init(
        compiler: String, folders: [String], stateFolder: String, policy: PolicyInForce,
        log: @escaping @Sendable (String) -> Void
    ) {
        self.compiler = compiler
        self.folders = folders
        self.stateFolder = stateFolder
        lastGood = stateFolder + "/policy.last-good"
        self.policy = policy
        self.log = log
    }

    /// At the start, when nothing is in force yet.
    public func start() {
        // Where it can't be made, the daemon itself says so.
        try? PrivateFile.folder(stateFolder, mode: Daemon.stateFolderMode)
        seen.withLock { $0 = state() }
        if load() { return }
        if let kept = try? PrivateFile.read(lastGood, limit: PolicyParcel.mostBytes),
            let parcel = try? PolicyParcel(bytes: kept.releasedFromLockedMemory())
        {
            use(parcel)
            log("policies: the last that could be used are in force")
        } else if let parcel = try? PolicyParcel(.whenBroken, summary: "built in") {
            use(parcel)
            log("policies: none could be used; secrets take the password, nothing is exported")
        }
    }

    /// Takes up what has changed; false where nothing could be taken and all stays as it was.
    @discardableResult
    public func load() -> Bool {
        let folders = folders.filter { FileManager.default.fileExists(atPath: $0) }
        let output: ChildOutput
        do {
            output = try ChildOutput(
                of: compiler, ["policy", "compile"] + folders.flatMap { ["--policies", $0] },
                limit: PolicyParcel.mostBytes, deadlineSeconds: Self.deadline)
        } catch {
            log("policies: could not be compiled (\(error)); what was in force stays in force")
            return false
        }
        guard output.status?.isSuccess == true else {
            let words = String(decoding: output.bytes.prefix(8192), as: UTF8.self)
            log("policies: not taken; what was in force stays in force\n\(words)")
            return false
        }
        do {
            let parcel = try PolicyParcel(bytes: output.bytes)
            use(parcel)
            keep(output.bytes)
            let files = parcel.summary.split(separator: "\n").joined(separator: ", ")
            log("policies: \(parcel.policy.statementCount) rules in force (\(files))")
            return true
        } catch {
            log("policies: what was compiled makes no sense (\(error))")
            return false
        }
    }

    /// Looks whether any file has changed, and loads where one has.
    public func loadIfChanged() {
        let now = state()
        let hasChanged = seen.withLock { seen in
            defer { seen = now }
            return seen != now
        }
        if hasChanged { load() }
    }

    private func use(_ parcel: PolicyParcel) {
        policy.use(PolicyInForce.Pair(parcel.policy, reach: parcel.reach))
    }

    private func keep(_ bytes: [UInt8]) {
        PrivateFile.remove(lastGood)
        try? PrivateFile.create(lastGood, contents: SecretBytes(copying: bytes))
    }

    /// Names, sizes and times of all files.
    private func state() -> [String] {
        folders.flatMap { folder -> [String] in
            let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
            return names.filter { $0.hasSuffix(".yaml") }.sorted().map { name in
                let facts = try? FileManager.default.attributesOfItem(atPath: folder + "/" + name)
                let size = (facts?[.size] as? NSNumber)?.intValue ?? -1
                let time = (facts?[.modificationDate] as? Date)?.timeIntervalSince1970 ?? 0
                let number = (facts?[.systemFileNumber] as? NSNumber)?.intValue ?? 0
                return "\(folder)/\(name) \(size) \(time) \(number)"
            }
        }
    }
}
