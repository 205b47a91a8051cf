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
    /// It takes connections now.
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
    /// Whether the user has connections.
    case busy(Bool)
    /// It has nothing to do, after so many connections. The answer is `end`, unless another one is
    /// on its way.
    case idle(taken: UInt32)

    package static let byteCount = WorkerRecord.byteCount

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
        default: throw MalformedBytes()
        }
    }
}
