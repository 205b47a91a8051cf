// SPDX-License-Identifier: Apache-2.0
internal import CAuthRecord
package import KeychainLinuxSystem
internal import KeychainLocalSocket
internal import Synchronization

/// The socket of `keychain-auth-starter`, with a connection for each question.
package struct StarterSocket: AuthenticationStarter {
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
        let record = try AuthRecord.bytes(of: request)
        let connection: RecordConnection
        let said: AuthRecord.Word
        do throws(SocketError) {
            connection = try RecordConnection(path: path)
            try connection.send(record, passing: conversation)
            said = try AuthRecord.word(
                in: connection.receive(
                    limit: AuthRecord.longestReply, deadlineSeconds: Self.patience))
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
        log("keychain-auth-starter, on \(path), \(why); keychainctl doctor says what helps")
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
                    limit: AuthRecord.longestReply, deadlineSeconds: seconds)
                known = try AuthRecord.word(in: bytes) == .ended ? .ended : .lost
            } catch { known = error == .timedOut ? .running : .lost }
            if known == .lost { log("keychain-auth-starter ended while a question was open") }
            return known
        }
    }

    /// A process ended from here does not count as lost.
    func end() {
        known.withLock { if $0 == .running { $0 = .ended } }
        connection.hangUp()
    }
}

/// The records, coded by the C code that `keychain-auth-starter` uses.
enum AuthRecord {
    enum Word: Equatable {
        case started
        case ended
        case noService
        case busy
        case failed
        /// This program, its version or its request is refused.
        case refused
    }

    static let longestReply = Int(KC_AUTH_REPLY_SIZE)

    /// Throws `.failed` where the request is too long, or makes no sense.
    static func bytes(of request: AuthenticationRequest) throws(StarterError) -> [UInt8] {
        let asker = request.asker ?? ""
        // A C string ends at a zero byte.
        let hasZero = [request.service, request.account, asker].contains { $0.utf8.contains(0) }
        var bytes = [UInt8](repeating: 0, count: Int(KC_AUTH_REQUEST_SIZE))
        // Safe: the texts are borrowed for the call, and the array has the size of a request.
        guard !hasZero,
            unsafe kc_auth_request_encode(
                request.user, request.service, request.account, asker, &bytes)
        else { throw .failed }
        return bytes
    }

    static func word(in bytes: [UInt8]) throws(SocketError) -> Word {
        var word = KC_AUTH_FAILED
        // Safe: reads the array, and writes the word.
        guard unsafe kc_auth_reply_decode(bytes, bytes.count, &word) == KC_AUTH_OK else {
            throw .malformed
        }
        return switch word {
        case KC_AUTH_STARTED: .started
        case KC_AUTH_ENDED: .ended
        case KC_AUTH_NO_SERVICE: .noService
        case KC_AUTH_BUSY: .busy
        case KC_AUTH_FAILED: .failed
        default: .refused
        }
    }
}
