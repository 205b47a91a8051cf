// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import KeychainLinuxSystem
import KeychainSecrets
import Testing

/// Secrets that are written to what another process passed.
@Suite struct PassedOutputTests {
    init() { Descriptor.ignoreBrokenPipes() }

    private func sockets(_ type: Int32) throws -> (Descriptor, Descriptor) {
        var pair: [Int32] = [-1, -1]
        let result = unsafe socketpair(AF_UNIX, type, 0, &pair)
        try #require(result == 0)
        return (Descriptor(owning: pair[0]), Descriptor(owning: pair[1]))
    }

    private func read(_ descriptor: Descriptor) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: 256)
        let count = unsafe Glibc.read(descriptor.number, &bytes, bytes.count)
        return Array(bytes.prefix(max(0, count)))
    }

    private func write(_ output: PassedOutput, _ seconds: Double = 5) throws(SystemError) {
        let secret = SecretBytes(copying: [UInt8](repeating: 7, count: 64))
        try output.write(secret, until: .now + .seconds(seconds))
    }

    /// Writes into it whatever it takes.
    private func fill(_ descriptor: Descriptor) {
        let flags = fcntl(descriptor.number, F_GETFL)
        _ = fcntl(descriptor.number, F_SETFL, flags | O_NONBLOCK)
        let bytes = [UInt8](repeating: 0, count: 4096)
        while unsafe Glibc.write(descriptor.number, bytes, bytes.count) > 0 {}
        _ = fcntl(descriptor.number, F_SETFL, flags)
    }

    @Test func `a pipe and a local socket get all of it`() throws {
        let (reading, writing) = try Descriptor.pipe()
        try write(try #require(PassedOutput(writing)))
        #expect(read(reading) == [UInt8](repeating: 7, count: 64))
        let (one, other) = try sockets(Int32(SOCK_STREAM.rawValue))
        try write(try #require(PassedOutput(one)))
        #expect(read(other) == [UInt8](repeating: 7, count: 64))
    }

    @Test func `nothing else is taken`() throws {
        let (reading, writing) = try Descriptor.pipe()
        #expect(PassedOutput(reading) == nil)
        let (datagrams, _) = try sockets(Int32(SOCK_DGRAM.rawValue))
        #expect(PassedOutput(datagrams) == nil)
        let internet = Descriptor(owning: socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0))
        #expect(PassedOutput(internet) == nil)
        for path in ["/dev/null", "/proc/self/status", "/tmp"] {
            let opened = Descriptor(owning: unsafe open(path, O_RDONLY))
            #expect(PassedOutput(opened) == nil)
        }
        let file = "/tmp/passed-\(UInt64.random(in: 0 ... .max))"
        defer { unsafe _ = unlink(file) }
        #expect(PassedOutput(try Descriptor.creating(file)) == nil)
        withExtendedLifetime(writing) {}
    }

    @Test func `one that takes nothing is given up after a while, whatever its flags say`() throws {
        let (reading, writing) = try Descriptor.pipe()
        let output = try #require(PassedOutput(writing))
        fill(writing)
        #expect(throws: SystemError.timedOut) { try write(output, 0.1) }
        let (one, other) = try sockets(Int32(SOCK_STREAM.rawValue))
        fill(one)
        #expect(throws: SystemError.timedOut) {
            try write(try #require(PassedOutput(one)), 0.1)
        }
        withExtendedLifetime((reading, other)) {}
    }

    @Test func `one without a reader is an error`() throws {
        var ends: (Descriptor, Descriptor)? = try Descriptor.pipe()
        let writing = try #require(ends).1
        let output = try #require(PassedOutput(writing))
        ends = nil
        #expect(throws: SystemError.system(EPIPE)) { try write(output) }
    }
}
