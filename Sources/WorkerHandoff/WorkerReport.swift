// SPDX-License-Identifier: Apache-2.0
package import KeychainModel

/// Work of which the machine does a bounded amount at once, for all users in turn.
package enum SharedWork: UInt32, Sendable, CaseIterable {
    /// Deriving a key from a password.
    case derivation = 1
    /// A command to the TPM.
    case tpm
}

/// What a worker tells or asks keychaind.
package enum WorkerReport: Sendable, Equatable {
    /// It takes connections now. Its process comes along, as a pidfd.
    case ready
    /// A connection that was passed is its own now.
    case took
    /// To an order that is acknowledged.
    case done(id: UInt32)
    /// Asks for a turn; the answer is the turn.
    case turn(id: UInt32, SharedWork)
    case turnEnd(SharedWork)
    /// With the user's new vault key; the answer is its place.
    case keepVaultKey(id: UInt32)
    /// The answer comes once it is gone.
    case forgetVaultKey(id: UInt32)
    /// Asks for the policies to be read again. Only root's worker may.
    case reload(id: UInt32)
    /// Asks for a connection to keychain-audit, which comes with the answer.
    case audit(id: UInt32)
    /// The same to keychain-broker and keychain-starter, each bound to the user.
    case broker(id: UInt32)
    case starter(id: UInt32)
    /// Asks whether the account's password is empty: 1 where it is.
    case emptyPassword(id: UInt32)
    /// Asks which fingers the user has enrolled. The answer's text is a digest in hexadecimal
    /// digits, or empty.
    case biometry(id: UInt32)
    /// Asks for `User=` of a unit, which is the answer's text where its value is 1.
    case unitUser(id: UInt32, unit: String)
    /// Asks for the process that controls the screen of a login session of the user's; 0 where
    /// there is none.
    case controller(id: UInt32, session: String)
    /// Whether the user has connections.
    case busy(Bool)
    /// It has nothing to do, after so many connections. The answer is `end`, unless another one is
    /// on its way.
    case idle(taken: UInt32)

    package static let byteCount = WorkerRecord.byteCount
    /// The longest name, in bytes.
    package static let longestText = WorkerRecord.longestText

    package var bytes: [UInt8] { record.bytes }

    private var record: WorkerRecord {
        switch self {
        case .ready: WorkerRecord(1)
        case .took: WorkerRecord(2)
        case .done(let id): WorkerRecord(3, id: id)
        case .turn(let id, let work): WorkerRecord(4, id: id, value: work.rawValue)
        case .turnEnd(let work): WorkerRecord(5, value: work.rawValue)
        case .keepVaultKey(let id): WorkerRecord(6, id: id)
        case .forgetVaultKey(let id): WorkerRecord(7, id: id)
        case .reload(let id): WorkerRecord(8, id: id)
        case .audit(let id): WorkerRecord(9, id: id)
        case .busy(let isBusy): WorkerRecord(10, value: isBusy ? 1 : 0)
        case .idle(let taken): WorkerRecord(11, value: taken)
        case .broker(let id): WorkerRecord(12, id: id)
        case .starter(let id): WorkerRecord(13, id: id)
        case .emptyPassword(let id): WorkerRecord(14, id: id)
        case .biometry(let id): WorkerRecord(15, id: id)
        case .unitUser(let id, let unit): WorkerRecord(16, id: id, text: unit)
        case .controller(let id, let session): WorkerRecord(17, id: id, text: session)
        }
    }

    package init(_ bytes: [UInt8]) throws(MalformedBytes) {
        let record = try WorkerRecord(bytes)
        self = try Self.report(record)
        guard self.record == record else { throw MalformedBytes() }
    }

    private static func report(_ record: WorkerRecord) throws(MalformedBytes) -> WorkerReport {
        func work() throws(MalformedBytes) -> SharedWork {
            guard let work = SharedWork(rawValue: record.value) else { throw MalformedBytes() }
            return work
        }
        switch record.kind {
        case 1: return .ready
        case 2: return .took
        case 3: return .done(id: record.id)
        case 4: return .turn(id: record.id, try work())
        case 5: return .turnEnd(try work())
        case 6: return .keepVaultKey(id: record.id)
        case 7: return .forgetVaultKey(id: record.id)
        case 8: return .reload(id: record.id)
        case 9: return .audit(id: record.id)
        case 10: return .busy(record.value != 0)
        case 11: return .idle(taken: record.value)
        case 12: return .broker(id: record.id)
        case 13: return .starter(id: record.id)
        case 14: return .emptyPassword(id: record.id)
        case 15: return .biometry(id: record.id)
        case 16: return .unitUser(id: record.id, unit: record.text)
        case 17: return .controller(id: record.id, session: record.text)
        default: throw MalformedBytes()
        }
    }
}
