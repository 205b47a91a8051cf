// SPDX-License-Identifier: Apache-2.0
import Foundation
import SystemTestSupport
import Testing

@testable import WorkerDispatch

/// What fprintd has on the disk, as one fingerprint of it.
@Suite struct EnrolledBiometryTests {
    private let folder: ScratchFolder

    init() throws {
        folder = try ScratchFolder()
        try FileManager.default.createDirectory(
            atPath: folder("alice/driver/0"), withIntermediateDirectories: true)
    }

    private func state(of account: String = "alice") -> [UInt8] {
        EnrolledBiometry.state(of: account, in: folder.path)
    }

    private func enrol(_ finger: String, _ content: String = "minutiae") {
        _ = folder.write("alice/driver/0/" + finger, content, mode: 0o600)
    }

    /// As the folder was changed at that moment.
    private func setTime(_ seconds: Double) throws {
        for name in ["alice", "alice/driver", "alice/driver/0"] {
            try FileManager.default.setAttributes(
                [.modificationDate: Date(timeIntervalSince1970: seconds)],
                ofItemAtPath: folder(name))
        }
    }

    @Test func `a user without a finger has nothing enrolled`() {
        #expect(state().isEmpty)
        #expect(state(of: "bob").isEmpty)
    }

    @Test func `another finger, another print and another name are other sets`() throws {
        var states: Set<[UInt8]> = []
        func look() throws {
            try setTime(1000)
            states.insert(state())
        }
        enrol("1")
        try look()
        enrol("1", "other minutiae")
        try look()
        enrol("2")
        try look()
        try FileManager.default.moveItem(
            atPath: folder("alice/driver/0/2"), toPath: folder("alice/driver/0/3"))
        try look()
        #expect(states.count == 4 && !states.contains([]))
        try look()
        #expect(states.count == 4)
    }

    @Test func `a finger that was added and taken away again has left its mark`() throws {
        enrol("1")
        try setTime(1000)
        let before = state()
        enrol("2")
        try FileManager.default.removeItem(atPath: folder("alice/driver/0/2"))
        try setTime(2000)
        #expect(state() != before)
    }

    @Test(arguments: ["", ".", "..", "alice/driver", "../alice"])
    func `an account's name leads nowhere else`(_ account: String) {
        enrol("1")
        #expect(!state().isEmpty)
        #expect(state(of: account).isEmpty)
    }

    @Test func `more files than any reader makes are not read`() {
        for number in 0..<257 { enrol("\(number)") }
        #expect(state().isEmpty)
    }
}
