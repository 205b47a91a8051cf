// SPDX-License-Identifier: Apache-2.0
internal import CSystemd
internal import Glibc
internal import KeychainLinuxSystem

/// The socket of a bus, by the bus's address.
enum BusSocket {
    /// What an address begins with, and the first bytes of the socket's name then.
    private static let kinds: [(prefix: String, first: [UInt8])] = [
        ("unix:path=", []), ("unix:abstract=", [0]),
    ]

    /// Connects, without waiting for a bus whose backlog is full. No read or write waits either.
    static func connect(_ address: String) throws(BusFailure) -> Descriptor {
        let type =
            Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
            | Int32(SOCK_NONBLOCK.rawValue)
        let number = socket(AF_UNIX, type, 0)
        guard number >= 0 else { throw .unreachable }
        let made = Descriptor(owning: number)
        guard let name = Self.name(in: address) else { throw .unreachable }
        var place = sockaddr_un()
        place.sun_family = sa_family_t(AF_UNIX)
        guard name.count <= MemoryLayout.size(ofValue: place.sun_path) else {
            throw .unreachable
        }
        // Safe: the name was measured.
        unsafe withUnsafeMutableBytes(of: &place.sun_path) { target in
            unsafe target.copyBytes(from: name)
        }
        let length = socklen_t(MemoryLayout<sa_family_t>.size + name.count)
        // Safe: the address is borrowed for the call, and no shorter than the length.
        let result = unsafe withUnsafePointer(to: &place) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe Glibc.connect(number, $0, length)
            }
        }
        guard result == 0 else { throw .unreachable }
        return made
    }

    /// The name as the kernel has it: of an abstract one after a zero.
    static func name(in address: String) -> [UInt8]? {
        guard let kind = kinds.first(where: { address.hasPrefix($0.prefix) }) else { return nil }
        let value = address.dropFirst(kind.prefix.count).prefix { $0 != "," && $0 != ";" }
        guard let name = decoded(Array(value.utf8)), !name.isEmpty, !name.contains(0) else {
            return nil
        }
        return kind.first + name
    }

    /// Addresses may have any byte as a percent sign and two digits.
    private static func decoded(_ text: [UInt8]) -> [UInt8]? {
        var bytes: [UInt8] = []
        var place = 0
        while place < text.count {
            guard text[place] == UInt8(ascii: "%") else {
                bytes.append(text[place])
                place += 1
                continue
            }
            guard place + 2 < text.count,
                let byte = UInt8(
                    String(decoding: text[place + 1...place + 2], as: UTF8.self), radix: 16)
            else { return nil }
            bytes.append(byte)
            place += 3
        }
        return bytes
    }
}
