// SPDX-License-Identifier: Apache-2.0
internal import KeychainLinuxSystem

/// The looks of one connection, which keychaind has bound to a user: at that user's processes
/// alone. Root's connection looks at all processes.
struct BoundLooks {
    private let user: UInt32
    private let looks = OwnLooks()

    init(of user: UInt32) { self.user = user }

    /// `process` is nil where the request has none, or it has ended. nil for a request that is no
    /// look.
    func look(
        _ request: LookRequest, _ process: PinnedProcess?
    ) -> (reply: LookReply, file: Descriptor?)? {
        switch request {
        case .bind: return nil
        case .path(let id): return (path(of: id).map { .path($0) } ?? .nothing, nil)
        case .otherReader(let device, let session, let user):
            guard self.user == 0 || user == self.user else { return (.nothing, nil) }
            let terminal = SharedTerminal(device: device, session: session, user: user)
            return (.finding(looks.otherReader(of: terminal)), nil)
        case .program:
            guard let look = looking(at: process, looks.program) else { return (.nothing, nil) }
            return (.program(LookReply.Program(look)), look.image?.descriptor)
        case .executable:
            return Self.passing(looking(at: process, looks.openExecutable)?.descriptor)
        case .sandboxFile:
            return Self.passing(looking(at: process, looks.sandboxFile)?.descriptor)
        }
    }

    private static func passing(_ file: Descriptor?) -> (reply: LookReply, file: Descriptor?) {
        file == nil ? (.nothing, nil) : (.file, file)
    }

    /// Also of a process with root's rights: a login is reported by the program that PAM runs in, and
    /// the real user of su is another one.
    private func path(of id: Int32) -> String? {
        let process = PinnedProcess(pid: id, pidfd: nil)
        let path = looking(at: process, orRoots: true) { looks.path(of: $0.id) }
        // Bytes that are no text make a longer one.
        return path.flatMap { LookReply.holds($0) ? $0 : nil }
    }

    /// What was seen of a process that is the user's before and after, and the same process.
    private func looking<Seen>(
        at process: PinnedProcess?, orRoots: Bool = false, _ look: (PinnedProcess) -> Seen?
    ) -> Seen? {
        guard let process, mayLook(at: process, orRoots: orRoots), let seen = look(process),
            mayLook(at: process, orRoots: orRoots), process.isAlive
        else { return nil }
        return seen
    }

    /// By the real and the effective user: a process that has rights of another user's is not the
    /// user's alone.
    private func mayLook(at process: PinnedProcess, orRoots: Bool) -> Bool {
        if user == 0 { return true }
        guard let credentials = process.credentials() else { return false }
        if orRoots, credentials.effectiveUser == 0 { return true }
        return credentials.realUser == user && credentials.effectiveUser == user
    }
}
