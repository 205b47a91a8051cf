// SPDX-License-Identifier: Apache-2.0
internal import CStartRecord
package import KeychainLinuxSystem
internal import KeychainLocalSocket
internal import Synchronization

/// The socket of `keychain-starter`, with a connection for each question.
package struct StarterSocket: ProgramStarter {
    /// Seconds to connect, and to start a process.
    private static let patience = 5.0

    private let path: String
    private let log: @Sendable (String) -> Void

    package init(path: String, log: @escaping @Sendable (String) -> Void) {
        self.path = path
        self.log = log
    }

    package func start(
        _ request: AuthenticationRequest, talkingOn conversation: Descriptor
    ) throws(StarterError) -> any RunningAuthentication {
        let record = try StartRecord.bytes(of: request)
        let connection: RecordConnection
        let said: StartRecord.Word
        do throws(SocketError) {
            connection = try RecordConnection(path: path)
            try connection.send(record, passing: conversation)
            said = try StartRecord.word(
                in: connection.receive(
                    limit: StartRecord.longestReply, deadlineSeconds: Self.patience))
        } catch {
            throw refused("does not answer (\(error))", .notAnswering)
        }
        switch said {
        case .started: return StartedAuthentication(connection, log)
        case .noService: throw .noService
        case .busy: throw .busy
        case .failed: throw refused("could not start keychain-auth", .failed)
        case .ended, .refused: throw refused("does not take its request", .notAnswering)
        }
    }

    private func refused(_ why: String, _ error: StarterError) -> StarterError {
        log("keychain-starter, on \(path), \(why); keychainctl doctor says what helps")
        return error
    }
}

private final class StartedAuthentication: RunningAuthentication {
    private let connection: RecordConnection
    private let log: @Sendable (String) -> Void
    /// Locked, since one thread may read it while another ends the process.
    private let known = Mutex(AuthenticationState.running)

    init(_ connection: RecordConnection, _ log: @escaping @Sendable (String) -> Void) {
        self.connection = connection
        self.log = log
    }

    func state(withinSeconds seconds: Double) -> AuthenticationState {
        known.withLock { known in
            guard known == .running else { return known }
            do throws(SocketError) {
                let bytes = try connection.receive(
                    limit: StartRecord.longestReply, deadlineSeconds: seconds)
                known = try StartRecord.word(in: bytes) == .ended ? .ended : .lost
            } catch { known = error == .timedOut ? .running : .lost }
            if known == .lost { log("keychain-starter ended while a question was open") }
            return known
        }
    }

    /// A process ended from here does not count as lost.
    func end() {
        known.withLock { if $0 == .running { $0 = .ended } }
        connection.hangUp()
    }
}

/// The records, coded by the C code that `keychain-starter` uses.
enum StartRecord {
    enum Word: Equatable {
        case started
        case ended
        case noService
        case busy
        case failed
        /// This program, its version or its request is refused.
        case refused
    }

    static let longestReply = Int(KC_START_REPLY_SIZE)

    /// Throws `.failed` where the request is too long, or makes no sense.
    static func bytes(of request: AuthenticationRequest) throws(StarterError) -> [UInt8] {
        let asker = request.asker ?? ""
        // A C string ends at a zero byte.
        let hasZero = [request.service, request.account, asker].contains { $0.utf8.contains(0) }
        var bytes = [UInt8](repeating: 0, count: Int(KC_START_REQUEST_SIZE))
        // Safe: the texts are borrowed for the call, and the array has the size of a request.
        guard !hasZero,
            unsafe kc_start_request_encode(
                request.user, request.service, request.account, asker, &bytes)
        else { throw .failed }
        return bytes
    }

    static func word(in bytes: [UInt8]) throws(SocketError) -> Word {
        var word = KC_START_FAILED
        // Safe: reads the array, and writes the word.
        guard unsafe kc_start_reply_decode(bytes, bytes.count, &word) == KC_START_OK else {
            throw .malformed
        }
        return switch word {
        case KC_START_STARTED: .started
        case KC_START_ENDED: .ended
        case KC_START_NO_SERVICE: .noService
        case KC_START_BUSY: .busy
        case KC_START_FAILED: .failed
        default: .refused
        }
    }
}
