// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import KeychainLinuxSystem

/// A security key in software behind a descriptor in the place of a device's: all that is done with
/// a key on USB is done with this one. Each of its devices has a thread or a process, a turn each.
package final class SoftwareSecurityKey: @unchecked Sendable {
    private let turn = NSLock()
    private let inside: Authenticator
    /// What came of a message so far, and reports that have yet to be sent.
    private var incoming: (channel: [UInt8], command: UInt8, count: Int, bytes: [UInt8])?
    private var outgoing: [[UInt8]] = []

    /// Whether it answers no message but those that a channel begins with.
    package let isSilent: Bool

    /// The same seed is the same key.
    package init(
        seed: [UInt8] = (0..<32).map { _ in .random(in: 0...255) }, pin: String? = nil,
        isSilent: Bool = false
    ) {
        inside = Authenticator(seed: seed, pin: pin)
        self.isSilent = isSilent
    }

    package var isTouched: Bool {
        get { turn.withLock { inside.isTouched } }
        set { turn.withLock { inside.isTouched = newValue } }
    }
    package var touches: Int { turn.withLock { inside.touches } }
    package var retries: Int { turn.withLock { inside.retries } }

    /// Plugs it in: the descriptor of its device. It works until that is closed.
    package func plugged() -> Descriptor {
        let (device, own) = Self.device()
        Thread.detachNewThread { self.work(on: own) }
        return device
    }

    /// A device and the key's end of it. Each message is one report, as with a device of the kernel's.
    package static func device() -> (device: Descriptor, own: Descriptor) {
        var ends: [Int32] = [-1, -1]
        let kind = Int32(SOCK_SEQPACKET.rawValue | SOCK_CLOEXEC.rawValue)
        guard socketpair(AF_UNIX, kind, 0, &ends) == 0 else { fatalError("no pair of sockets") }
        return (Descriptor(owning: ends[0]), Descriptor(owning: ends[1]))
    }

    /// Answers until the other end is closed.
    package func work(on device: Descriptor) {
        var report = [UInt8](repeating: 0, count: Self.length + 1)
        while recv(device.number, &report, report.count, 0) == report.count {
            let answers = turn.withLock {
                // The first byte is the report's number.
                write(Array(report.dropFirst()))
                defer { outgoing = [] }
                return outgoing
            }
            for answer in answers {
                guard Glibc.send(device.number, answer, answer.count, Int32(MSG_NOSIGNAL)) > 0
                else { return }
            }
        }
    }

    // MARK: Reports of 64 bytes (CTAPHID)

    private static let length = 64
    private static let newChannel: UInt8 = 0x06
    private static let message: UInt8 = 0x10

    private func write(_ report: [UInt8]) {
        let channel = Array(report.prefix(4))
        if report[4] & 0x80 != 0 {
            incoming = (
                channel, report[4] & 0x7F, Int(report[5]) << 8 | Int(report[6]),
                Array(report.dropFirst(7))
            )
        } else {
            incoming?.bytes += report.dropFirst(5)
        }
        guard let message = incoming, message.bytes.count >= message.count else { return }
        incoming = nil
        answer(message.command, Array(message.bytes.prefix(message.count)), on: channel)
    }

    private func answer(_ command: UInt8, _ bytes: [UInt8], on channel: [UInt8]) {
        switch command {
        case Self.newChannel:
            // The nonce, the channel, version 2, three numbers, and that it speaks CBOR only.
            send(command, bytes + [1, 2, 3, 4, 2, 1, 0, 0, 0x0C], on: channel)
        case Self.message where !isSilent: send(command, inside.answer(bytes), on: channel)
        default: break
        }
    }

    private func send(_ command: UInt8, _ bytes: [UInt8], on channel: [UInt8]) {
        let head = channel + [command | 0x80, UInt8(bytes.count >> 8), UInt8(bytes.count & 0xFF)]
        var rest = bytes[...]
        var report = head
        var sequence: UInt8 = 0
        repeat {
            report += rest.prefix(Self.length - report.count)
            rest = rest.dropFirst(Self.length - (sequence == 0 ? head.count : 5))
            report += [UInt8](repeating: 0, count: Self.length - report.count)
            outgoing.append(report)
            report = channel + [sequence]
            sequence += 1
        } while !rest.isEmpty
    }
}
