// SPDX-License-Identifier: Apache-2.0
internal import AccessControl
internal import Foundation
internal import KeychainModel
internal import Synchronization

/// One JSON line for each decision, in a file of the state folder: who, what, with which evidence,
/// and how it ended. Neither secrets nor names of items.
///
/// Reads that needed no question, and those that found nothing, are counted and written together, so
/// that a program that reads much does not fill the disk. At `longest` bytes the file is moved aside once and begun anew. A full disk loses
/// records, never answers.
final class AuditLog: Sendable {
    enum Operation: String, Sendable {
        case add, copyMatching, update, delete, unlock, lock, setPassword, createKeychain, status
    }

    private static let longest: UInt64 = 16 * 1024 * 1024
    private static let mostCounted = 512
    private static let countFor: Duration = .seconds(10)

    private struct Reading: Hashable {
        let user: UInt32
        let program: String
        let outcome: String
    }
    private struct State {
        var file: FileHandle?
        var readings: [Reading: Int] = [:]
        var countedSince = ContinuousClock.now
    }

    private let path: String
    private let state = Mutex(State())

    init(folder: String) { path = folder + "/audit.jsonl" }

    func record(
        _ operation: Operation, _ caller: Caller, _ evidence: Evidence, _ refusal: Refusal?
    ) {
        guard operation != .status else { return }
        let program = caller.identity.identifier ?? "unknown"
        let outcome = refusal.map { "\($0)" } ?? "allowed"
        if operation == .copyMatching, refusal == nil || refusal == .notFound,
            evidence.factors.isEmpty
        {
            count(Reading(user: caller.user, program: program, outcome: outcome))
            return
        }
        write(
            Record(
                time: Date(), operation: operation.rawValue, user: caller.user,
                process: caller.process, program: program, session: caller.session?.rawValue,
                evidence: evidence.factors.sorted().map(\.service), outcome: outcome, count: 1))
    }

    /// Writes what has been counted, at the end of the service and now and then.
    func flush() {
        let readings = state.withLock { state in
            defer {
                state.readings = [:]
                state.countedSince = .now
            }
            return state.readings
        }
        for (reading, count) in readings {
            write(
                Record(
                    time: Date(), operation: Operation.copyMatching.rawValue,
                    user: reading.user, process: nil, program: reading.program, session: nil,
                    evidence: [], outcome: reading.outcome, count: count))
        }
    }

    private func count(_ reading: Reading) {
        let isFull = state.withLock { state in
            state.readings[reading, default: 0] += 1
            return state.readings.count > Self.mostCounted
                || state.countedSince + Self.countFor < .now
        }
        if isFull { flush() }
    }

    private struct Record: Encodable {
        let time: Date
        let operation: String
        let user: UInt32
        let process: Int32?
        let program: String
        let session: Int32?
        let evidence: [String]
        let outcome: String
        let count: Int
    }

    private func write(_ record: Record) {
        let encoder = JSONEncoder()
        encoder.dateEncodingStrategy = .iso8601
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        guard var line = try? encoder.encode(record) else { return }
        line.append(UInt8(ascii: "\n"))
        state.withLock { state in
            if let file = state.file ?? open() {
                state.file = file
                try? file.write(contentsOf: line)
                if let size = try? file.offset(), size > Self.longest { moveAside(&state) }
            }
        }
    }

    private func open() -> FileHandle? {
        let manager = FileManager.default
        if !manager.fileExists(atPath: path) {
            let made = manager.createFile(
                atPath: path, contents: nil, attributes: [.posixPermissions: 0o600])
            guard made else { return nil }
        }
        guard let file = FileHandle(forWritingAtPath: path) else { return nil }
        _ = try? file.seekToEnd()
        return file
    }

    private func moveAside(_ state: inout State) {
        try? state.file?.close()
        state.file = nil
        try? FileManager.default.removeItem(atPath: path + ".1")
        try? FileManager.default.moveItem(atPath: path, toPath: path + ".1")
    }
}
