// SPDX-License-Identifier: Apache-2.0
import KeychainLinuxSystem
import KeychainLocalSocket
import KeychainModel
import LoginManager
import SystemTestSupport
import Testing

@testable import WorkerHandoff

@Suite struct WorkerRecordTests {
    private static let orders: [WorkerOrder] = [
        .begin(beginning(tpm: true)), .begin(beginning(upkeep: true)),
        .begin(beginning(number: 0x7B00_0003)),
        .stateFolder("/var/lib/keychain"), .runtimeFolder("/run/keychain"), .deviceKey,
        .vaultKey(.descriptorStore), .vaultKey(.file), .credential("work"), .policy(7),
        .policyReport(id: 3, isDegraded: true), .lockedScreens,
        .event(id: 0, .present(lockedScreens: [])), .event(id: 0, .absent),
        .event(id: 0, .lockRequested(session: "c2")),
        .event(id: 0, .screen(session: "c2", isLocked: true)),
        .event(id: 0, .screen(session: "c2", isLocked: false)),
        .event(id: 0, .sessionEnded("c2")), .event(id: 0, .userLeft(1000)),
        .event(id: 9, .sleeping), .event(id: 9, .mayHibernate), .event(id: 9, .shuttingDown),
        .severalUsers(true), .severalUsers(false), .started, .machine, .connection(.requests),
        .connection(.requests, hasMachine: true),
        .connection(.logins), .connection(.offers), .machineEnd, .machineConnection,
        .answer(id: 4, value: 5), .answer(id: 4, value: 1, text: "www-data"), .settle(id: 6), .end,
    ]
    private static let reports: [WorkerReport] = [
        .ready, .took, .done(id: 1), .turn(id: 2, .derivation), .turn(id: 2, .tpm),
        .turnEnd(.derivation), .keepVaultKey(id: 3), .forgetVaultKey(id: 4), .reload(id: 5),
        .audit(id: 6), .busy(true), .busy(false), .idle(taken: 7), .broker(id: 8),
        .starter(id: 9), .emptyPassword(id: 10), .biometry(id: 11),
        .unitUser(id: 12, unit: "shop@1.service"), .controller(id: 13, session: "c2"),
    ]

    private static func beginning(
        tpm: Bool = false, upkeep: Bool = false, number: UInt32 = 0
    ) -> WorkerOrder.Beginning {
        var beginning = WorkerOrder.Beginning(user: 1000)
        beginning.hasTPM = tpm
        beginning.isForUpkeep = upkeep
        beginning.number = number
        return beginning
    }

    @Test(arguments: orders) func `an order is read as it was written`(
        _ order: WorkerOrder
    ) throws {
        #expect(order.bytes.count == WorkerOrder.byteCount)
        #expect(try WorkerOrder(order.bytes) == order)
    }

    @Test(arguments: reports) func `a report is read as it was written`(
        _ report: WorkerReport
    ) throws {
        #expect(report.bytes.count == WorkerReport.byteCount)
        #expect(try WorkerReport(report.bytes) == report)
    }

    @Test func `no other bytes mean the same`() {
        for bytes in Self.orders.map(\.bytes) {
            for place in bytes.indices {
                var other = bytes
                other[place] ^= 0x10
                let read = try? WorkerOrder(other)
                #expect(read == nil || read?.bytes == other)
            }
        }
        for bytes in Self.reports.map(\.bytes) {
            for place in bytes.indices {
                var other = bytes
                other[place] ^= 0x10
                let read = try? WorkerReport(other)
                #expect(read == nil || read?.bytes == other)
            }
        }
    }

    @Test func `a record of another length, or of a kind that is none, is no record`() {
        let bytes = WorkerOrder.end.bytes
        for other in [[], Array(bytes.dropLast()), bytes + [0], bytes.map { _ in 0xff }] {
            #expect(throws: MalformedBytes.self) { try WorkerOrder(other) }
            #expect(throws: MalformedBytes.self) { try WorkerReport(other) }
        }
        for kind: UInt16 in [0, 20, .max] {
            #expect(throws: MalformedBytes.self) { try WorkerOrder(WorkerRecord(kind).bytes) }
        }
        for kind: UInt16 in [0, 18, .max] {
            #expect(throws: MalformedBytes.self) { try WorkerReport(WorkerRecord(kind).bytes) }
        }
    }

    // MARK: The worker's end

    private func channel() throws -> (channel: WorkerChannel, keychaind: RecordConnection) {
        let (own, other) = try SocketPair.ofRecords()
        return (
            WorkerChannel(try RecordConnection(accepted: own)),
            try RecordConnection(accepted: other)
        )
    }

    @Test func `each question has its own answer, in any order`() throws {
        let (channel, keychaind) = try channel()
        let first = Background { channel.ask { .audit(id: $0) }?.value }
        let (one, _) = try keychaind.receivePassed(limit: WorkerReport.byteCount)
        let second = Background { channel.ask { .reload(id: $0) }?.value }
        let (two, _) = try keychaind.receivePassed(limit: WorkerReport.byteCount)
        let running = Background { channel.run { _, _ in } }
        #expect(try WorkerReport(one) == .audit(id: 1))
        #expect(try WorkerReport(two) == .reload(id: 2))
        for id: UInt32 in [2, 1, 77] {
            try keychaind.send(WorkerOrder.answer(id: id, value: id * 10).bytes, passing: [])
        }
        #expect(try first.value() == 10)
        #expect(try second.value() == 20)
        keychaind.hangUp()
        try running.value()
    }

    @Test func `an answer has its text and its connection`() throws {
        let (channel, keychaind) = try channel()
        let running = Background { channel.run { _, _ in } }
        let asked = Background { channel.ask { .unitUser(id: $0, unit: "shop.service") }?.text }
        let (question, _) = try keychaind.receivePassed(limit: WorkerReport.byteCount)
        #expect(try WorkerReport(question) == .unitUser(id: 1, unit: "shop.service"))
        try keychaind.send(
            WorkerOrder.answer(id: 1, value: 1, text: "www-data").bytes, passing: [])
        #expect(try asked.value() == "www-data")
        let connecting = Background { try channel.connection { .broker(id: $0) } }
        _ = try keychaind.receivePassed(limit: WorkerReport.byteCount)
        let (own, other) = try SocketPair.ofRecords()
        try keychaind.send(WorkerOrder.answer(id: 2, value: 1).bytes, passing: [other])
        try connecting.value().send([1, 2, 3], passing: [])
        #expect(try RecordConnection(own).receive(limit: 8, deadlineSeconds: 20) == [1, 2, 3])
        let without = Background { (try? channel.connection { .starter(id: $0) }) == nil }
        _ = try keychaind.receivePassed(limit: WorkerReport.byteCount)
        try keychaind.send(WorkerOrder.answer(id: 3, value: 0).bytes, passing: [])
        #expect(try without.value())
        keychaind.hangUp()
        try running.value()
    }

    @Test func `no question waits for a keychaind that has ended`() throws {
        let (channel, keychaind) = try channel()
        let open = Background { channel.ask { .audit(id: $0) }?.value }
        _ = try keychaind.receivePassed(limit: WorkerReport.byteCount)
        keychaind.hangUp()
        channel.run { _, _ in }
        #expect(try open.value() == nil)
        #expect(channel.ask { .audit(id: $0) } == nil)
    }
}
