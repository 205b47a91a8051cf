// SPDX-License-Identifier: Apache-2.0
import CFIDO2
import Foundation
import SecurityKeys

/// A security key in software, behind libfido2's own functions for a device's reports: the library
/// uses it exactly like a key on USB.
package final class SoftwareSecurityKey {
    private let inside: Authenticator
    /// The received part of a message, and the reports that are still to be read.
    private var incoming: (channel: [UInt8], command: UInt8, count: Int, bytes: [UInt8])?
    private var outgoing: [[UInt8]] = []

    /// The same seed makes the same key.
    package init(seed: [UInt8] = (0..<32).map { _ in .random(in: 0...255) }, pin: String? = nil) {
        inside = Authenticator(seed: seed, pin: pin)
    }

    package var isTouched: Bool {
        get { inside.isTouched }
        set { inside.isTouched = newValue }
    }
    package var touches: Int { inside.touches }
    package var retries: Int { inside.retries }

    /// Plugs the key in. It must live as long as the returned value.
    package func plugged() -> SecurityKey? {
        var functions = fido_dev_io_t()
        functions.open = { path in
            // The path is the key's own address.
            path.flatMap { UInt(String(cString: $0), radix: 16) }
                .flatMap { UnsafeMutableRawPointer(bitPattern: $0) }
        }
        functions.close = { _ in }
        functions.read = { handle, buffer, size, _ in
            guard let report = SoftwareSecurityKey.at(handle)?.read(), let buffer,
                report.count <= size
            else { return -1 }
            buffer.update(from: report, count: report.count)
            return Int32(report.count)
        }
        functions.write = { handle, bytes, size in
            guard let bytes, size > 1 else { return -1 }
            // The first byte is the report's number.
            SoftwareSecurityKey.at(handle)?
                .write(Array(UnsafeBufferPointer(start: bytes + 1, count: size - 1)))
            return Int32(size)
        }
        let address = UInt(bitPattern: Unmanaged.passUnretained(self).toOpaque())
        guard let device = fido_dev_new(),
            fido_dev_set_io_functions(device, &functions) == FIDO_OK,
            fido_dev_open(device, String(address, radix: 16)) == FIDO_OK
        else { return nil }
        return SecurityKey(opened: device)
    }

    private static func at(_ handle: UnsafeMutableRawPointer?) -> SoftwareSecurityKey? {
        handle.map { Unmanaged<SoftwareSecurityKey>.fromOpaque($0).takeUnretainedValue() }
    }

    // MARK: Reports of 64 bytes (CTAPHID)

    private static let length = 64
    private static let newChannel: UInt8 = 0x06
    private static let message: UInt8 = 0x10

    private func read() -> [UInt8]? { outgoing.isEmpty ? nil : outgoing.removeFirst() }

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
            // The nonce, the channel, version 2, three numbers, and the flag that it supports CBOR
            // only.
            send(command, bytes + [1, 2, 3, 4, 2, 1, 0, 0, 0x0C], on: channel)
        case Self.message: send(command, inside.answer(bytes), on: channel)
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
