// SPDX-License-Identifier: Apache-2.0
internal import KeychainLinuxSystem
internal import KeychainPolicyEngine
internal import ProgramHandoff

/// Why there is no compiled policy.
struct PolicyFailure: Error {
    /// In short on the first line.
    let words: String
    /// Whether the files may be fine: the compiler did not run to its end.
    var isOfCompiler = false
}

/// The installed `keychainctl-policy`, one process for each reading.
struct PolicyCompiler: Sendable {
    private static let deadline: Duration = .seconds(60)
    /// Seconds for the process to end after its output.
    private static let farewell = 5.0
    private static let longestWords = 8192

    let starter: any ProgramStarter

    /// Compiles the files of these folders, of which later ones override earlier ones.
    func bundle(of folders: [String]) throws(PolicyFailure) -> PolicyBundle {
        let (bytes, status) = try output(for: folders)
        guard status.isSuccess else {
            let words = String(decoding: bytes.prefix(Self.longestWords), as: UTF8.self)
            throw PolicyFailure(words: "not taken\n\(words)")
        }
        do { return try PolicyBundle(bytes: bytes) } catch {
            throw PolicyFailure(words: "what was compiled makes no sense (\(error))")
        }
    }

    private func output(
        for folders: [String]
    ) throws(PolicyFailure) -> (bytes: [UInt8], status: ExitStatus) {
        let deadline = BootTime.now + Self.deadline
        let (running, pipe) = try start(folders)
        defer { running.end() }
        let bytes: [UInt8]
        do throws(SystemError) {
            bytes = try pipe.contents(limit: PolicyBundle.mostBytes, until: deadline)
        } catch { throw Self.failure("\(error)") }
        return switch running.state(withinSeconds: Self.farewell) {
        case .ended(let status): (bytes, status)
        case .running: throw Self.failure("\(SystemError.timedOut)")
        case .lost: throw Self.failure("keychain-starter ended")
        }
    }

    /// Starts the process. Afterwards it alone holds the writing end of the pipe, so that the pipe
    /// ends when the process does.
    private func start(
        _ folders: [String]
    ) throws(PolicyFailure) -> (any RunningProgram, Descriptor) {
        let ours: Descriptor
        let theirs: Descriptor
        do throws(SystemError) { (ours, theirs) = try Descriptor.pipe() } catch {
            throw Self.failure("\(error)")
        }
        do throws(StarterError) {
            return (try starter.start(.policies(folders: folders), passing: [theirs]), ours)
        } catch {
            throw PolicyFailure(
                words: "could not be compiled (\(Self.words(for: error)))",
                isOfCompiler: error != .badRequest)
        }
    }

    private static func failure(_ why: String) -> PolicyFailure {
        PolicyFailure(words: "could not be compiled (\(why))", isOfCompiler: true)
    }

    private static func words(for error: StarterError) -> String {
        switch error {
        case .notAnswering: "keychain-starter does not answer"
        case .notInstalled: "keychainctl-policy is not installed"
        case .busy: "too many compilers run"
        case .badRequest: "their folders are more than eight, or have paths of over 511 bytes"
        case .failed, .noService: "keychain-starter can't start keychainctl-policy"
        }
    }
}
