// SPDX-License-Identifier: Apache-2.0
internal import AuditHandoff
internal import KeychainLinuxSystem
package import KeychainLocalSocket
internal import KeychainRequestAudit
internal import Synchronization

/// The audit's files, which only `keychain-audit` can write to. A line is in that process's socket
/// when `append` returns, and is kept here until its reply says that it is in the file: a
/// `keychain-audit` that ends gets it once more, so that a line may stand twice. While none answers,
/// lines wait for it, and are counted as lost beyond a limit.
package final class AuditFiles: AuditStore {
    fileprivate static let mostBytes = 8 * 1024 * 1024
    /// The most waiting bytes of one user, so that there is room for other users' records.
    static let mostBytesOfUser = 512 * 1024
    private static let day = 86_400.0
    private static let pauseMilliseconds: UInt32 = 200
    /// How long the process that ends waits for the last replies.
    private static let lastPatience: Duration = .seconds(1)
    private static let lastPauseMilliseconds: UInt32 = 5

    fileprivate struct Line {
        let user: UInt32
        let records: [[UInt8]]
        /// The user's records that are lost with it.
        let count: Int
        var bytes: Int { records.reduce(0) { $0 + $1.count } }
    }
    fileprivate struct State {
        var connection: RecordConnection?
        /// Those without a reply.
        var lines: [Line] = []
        /// How many of them were sent, and how many records of the next one.
        var sent = 0
        var sentRecords = 0
        var waiting: [UInt32: Int] = [:]
        var lost: [UInt32: Int] = [:]
        var isComplainedOf = false
        var isEnding = false
    }

    /// Gives a new connection to keychain-audit.
    package typealias Connections = @Sendable () throws(SocketError) -> RecordConnection

    private let connect: Connections
    private let log: @Sendable (String) -> Void
    private let state = Mutex(State())

    /// Connects now, and whenever the connection ends.
    package init(_ connect: @escaping Connections, log: @escaping @Sendable (String) -> Void) {
        self.connect = connect
        self.log = log
        if !DetachedThread.start({ [self] in run() }) { complain("there is no thread for it") }
    }

    package func append(_ line: [UInt8], of user: UInt32, records: Int) {
        guard let parts = LineRecord.records(of: line.dropLast(), user: user) else {
            return lose(records, of: user, "a record is too long")
        }
        let line = Line(user: user, records: parts, count: records)
        let fits = state.withLock { state in
            guard state.hasRoom(for: line) else { return false }
            state.add(line)
            state.send()
            return true
        }
        if !fits { lose(records, of: user, "it takes no records") }
    }

    package func takeLost(of user: UInt32) -> Int {
        state.withLock { $0.lost.removeValue(forKey: user) ?? 0 }
    }

    package func finish() {
        let end = ContinuousClock.now + Self.lastPatience
        while state.withLock({ !$0.lines.isEmpty }), ContinuousClock.now < end {
            Wait.pause(milliseconds: Self.lastPauseMilliseconds)
        }
        state.withLock { state in
            state.isEnding = true
            state.connection?.hangUp()
        }
    }

    private func run() {
        while true {
            do throws(SocketError) { try serve() } catch {
                let isEnding = state.withLock { state in
                    state.disconnect()
                    return state.isEnding
                }
                if isEnding { return }
                // It ends with its connection, and is there again at once.
                if error != .closed { complain("\(error)") }
            }
            Wait.pause(milliseconds: Self.pauseMilliseconds)
        }
    }

    private func serve() throws(SocketError) {
        let connection = try connect()
        let isEnding = state.withLock { state in
            state.connection = connection
            state.send()
            return state.isEnding
        }
        if isEnding { throw .closed }
        while true {
            let bytes = try connection.receive(
                limit: LineRecord.longestReply, deadlineSeconds: Self.day)
            hear(try LineRecord.reply(in: bytes))
        }
    }

    private func hear(_ reply: LineRecord.Reply) {
        let line = state.withLock { state in
            if reply == .written { state.isComplainedOf = false }
            defer { state.send() }
            return state.takeAnswered()
        }
        guard let line, reply != .written else { return }
        let why =
            reply == .noRoom
            ? "it can't write to them, or the disk is full" : "it refuses a record"
        lose(line.count, of: line.user, why)
    }

    private func lose(_ records: Int, of user: UInt32, _ why: String) {
        state.withLock { $0.lost[user, default: 0] += records }
        complain(why)
    }

    /// Says it once, until a line is written again.
    private func complain(_ why: String) {
        let isFirst = state.withLock { state in
            defer { state.isComplainedOf = true }
            return !state.isComplainedOf
        }
        guard isFirst else { return }
        log(
            """
            keychain-audit keeps no records (\(why)); they wait or are lost, and the \
            next record of their user counts them
            """)
    }
}

extension AuditFiles.State {
    fileprivate func hasRoom(for line: AuditFiles.Line) -> Bool {
        waiting[line.user, default: 0] + line.bytes <= AuditFiles.mostBytesOfUser
            && waiting.values.reduce(line.bytes, +) <= AuditFiles.mostBytes
    }

    fileprivate mutating func add(_ line: AuditFiles.Line) {
        waiting[line.user, default: 0] += line.bytes
        lines.append(line)
    }

    /// Sends as much as there is room for. Where there is none, a reply is due, and this is called
    /// again.
    fileprivate mutating func send() {
        guard let connection else { return }
        while sent < lines.count {
            while sentRecords < lines[sent].records.count {
                do throws(SocketError) {
                    guard try connection.offer(lines[sent].records[sentRecords]) else { return }
                } catch {
                    // The thread that listens to it hears of its end.
                    connection.hangUp()
                    return self.connection = nil
                }
                sentRecords += 1
            }
            (sent, sentRecords) = (sent + 1, 0)
        }
    }

    fileprivate mutating func disconnect() {
        (connection, sent, sentRecords) = (nil, 0, 0)
    }

    /// The line whose reply came; nil where none was sent.
    fileprivate mutating func takeAnswered() -> AuditFiles.Line? {
        guard sent > 0 else { return nil }
        sent -= 1
        let line = lines.removeFirst()
        let left = waiting[line.user, default: 0] - line.bytes
        waiting[line.user] = left > 0 ? left : nil
        return line
    }
}
