// SPDX-License-Identifier: Apache-2.0
package import KeychainLinuxSystem
package import KeychainLocalSocket
internal import KeychainSecrets
internal import Synchronization

/// Looks by `keychain-broker`, for a process without the rights. Each look has a connection of its own
/// while it lasts: one that waits for a file system delays no other.
package final class BrokerLooks: ProcessLooks {
    /// Gives a new connection to keychain-broker, which is bound to this process's user.
    package typealias Connections = @Sendable () throws(SocketError) -> RecordConnection

    /// Of each worker: the broker has room for connections of all of them.
    private static let mostIdle = 8
    /// What the broker does at once, it does within this time; and it looks for two seconds at most who has
    /// a terminal open.
    private static let patience: Duration = .seconds(1)
    private static let patienceForReaders: Duration = .seconds(4)
    /// For how long the broker is not asked for paths after it has not told one in time: threads that accept
    /// connections wait for them.
    private static let restsFor: Duration = .seconds(5)
    /// Any program can cause looks: the log is told of failures now and then.
    private static let tellsEvery: Duration = .seconds(10)

    private let connect: Connections
    private let log: @Sendable (String) -> Void
    private let idle = Mutex<[RecordConnection]>([])
    private let told = Mutex<ContinuousClock.Instant?>(nil)
    private let rests = ShortLock<ContinuousClock.Instant?>(nil)

    package init(connect: @escaping Connections, log: @escaping @Sendable (String) -> Void) {
        self.connect = connect
        self.log = log
    }

    package func program(of process: PinnedProcess) -> ProgramLook? {
        guard let (reply, passed) = ask(.program, about: process),
            case .program(let program) = reply
        else { return nil }
        return ProgramLook(program, passed)
    }

    package func path(of process: Int32) -> String? {
        let now = ContinuousClock.now
        if let rests = rests.withLock({ $0 }), now < rests { return nil }
        guard let (reply, _) = ask(.path(process), about: nil, within: Self.patience) else {
            rests.withLock { $0 = .now + Self.restsFor }
            return nil
        }
        guard case .path(let path) = reply else { return nil }
        return path
    }

    package func openExecutable(of process: PinnedProcess) -> OpenedExecutable? {
        file(.executable, process).map(OpenedExecutable.init)
    }

    package func sandboxFile(of process: PinnedProcess) -> SandboxFile? {
        file(.sandboxFile, process).map(SandboxFile.init)
    }

    private func file(_ request: LookRequest, _ process: PinnedProcess) -> Descriptor? {
        guard let (reply, passed) = ask(request, about: process), reply == .file else { return nil }
        return passed
    }

    package func otherReader(of terminal: SharedTerminal) -> SharedTerminal.Finding {
        let request = LookRequest.otherReader(
            device: terminal.device, session: terminal.session, user: terminal.user)
        guard
            case .finding(let finding)? = ask(
                request, about: nil, within: Self.patienceForReaders)?.reply
        else { return .unknown }
        return finding
    }

    // MARK: Connections

    /// nil where the broker does not answer. A kept connection may be that of a broker which has ended
    /// since: the look is then made by the next one.
    private func ask(
        _ request: LookRequest, about process: PinnedProcess?, within time: Duration? = nil
    ) -> (reply: LookReply, passed: Descriptor?)? {
        do throws(SocketError) {
            if let kept = idle.withLock({ $0.popLast() }) {
                do throws(SocketError) {
                    return try exchange(request, process, on: kept, within: time)
                } catch { guard error != .timedOut else { throw error } }
            }
            return try exchange(request, process, on: try connect(), within: time)
        } catch {
            tell(error)
            return nil
        }
    }

    private func exchange(
        _ request: LookRequest, _ process: PinnedProcess?, on connection: RecordConnection,
        within time: Duration?
    ) throws(SocketError) -> (reply: LookReply, passed: Descriptor?) {
        try connection.send(request.bytes, passing: process.map { [$0.descriptor] } ?? [])
        let (bytes, passed) = try connection.receivePassed(limit: LookReply.longest, within: time)
        let reply: LookReply
        do { reply = try LookReply(bytes) } catch { throw .malformed }
        idle.withLock { if $0.count < Self.mostIdle { $0.append(connection) } }
        return (reply, passed)
    }

    private func tell(_ error: SocketError) {
        let now = ContinuousClock.now
        let isDue = told.withLock { told in
            if let told, now < told + Self.tellsEvery { return false }
            told = now
            return true
        }
        guard isDue else { return }
        log(
            "keychain-broker does not answer (\(error)), and no program can be told from others; "
                + "keychainctl doctor says what helps")
    }
}

extension ProgramLook {
    fileprivate init(_ program: LookReply.Program, _ image: Descriptor?) {
        self.init(program.hasImage ? image.map(ProgramImage.init) : nil)
        path = program.path
        executable = program.executable
        isAtItsPath = program.isAtItsPath
        isTrusted = program.isTrusted
        isInOurNamespaces = program.isInOurNamespaces
        rights = program.rights
    }
}

extension LookReply.Program {
    init(_ look: ProgramLook) {
        self.init(
            path: look.path, executable: look.executable, isAtItsPath: look.isAtItsPath,
            isTrusted: look.isTrusted, isInOurNamespaces: look.isInOurNamespaces,
            rights: look.rights, hasImage: look.image != nil)
    }
}
