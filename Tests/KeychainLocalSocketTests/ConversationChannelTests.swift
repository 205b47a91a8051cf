// SPDX-License-Identifier: Apache-2.0
import CKeychainLinux
import Glibc
import KeychainSecrets
import Testing

@testable import KeychainLinuxSystem
@testable import KeychainLocalSocket

struct ConversationChannelTests {
    private let ours: ConversationChannel
    private let theirs: ConversationChannel

    init() throws { (ours, theirs) = try ConversationChannel.pair() }

    /// What a channel makes of one datagram.
    private func receive(_ datagram: [UInt8]) throws -> ConversationMessage {
        let count = unsafe datagram.withUnsafeBytes {
            unsafe send(theirs.descriptor.number, $0.baseAddress, $0.count, 0)
        }
        #expect(count == datagram.count)
        return try ours.receive(deadlineSeconds: 5)
    }

    private func described(_ message: ConversationMessage) -> String {
        switch message {
        case .askHidden(let text): "hidden \(text)"
        case .askVisible(let text): "visible \(text)"
        case .info(let text): "info \(text)"
        case .error(let text): "error \(text)"
        case .title(let text): "title \(text)"
        case .answer(let secret): "answer \(secret.bytes.releasedFromLockedMemory())"
        case .cancel: "cancel"
        case .finished(let outcome): "finished \(outcome)"
        }
    }

    @Test func `every message arrives as it was sent`() throws {
        let longest = String(repeating: "ä", count: ConversationChannel.longestText / 2)
        let outcomes = (0...5).compactMap { ConversationOutcome(rawValue: $0) }
        #expect(outcomes.count == 6)
        let messages: [ConversationMessage] =
            [
                .askHidden("Password: "), .askVisible(""), .info("ß"), .error(longest),
                .title("git wants"), .answer(HeldSecret(SecretBytes(copying: []))),
                .answer(HeldSecret(SecretBytes(copying: [0, 1, 255]))),
                .answer(HeldSecret(SecretBytes(random: ConversationChannel.longestAnswer))),
                .cancel,
            ] + outcomes.map { .finished($0) }
        for message in messages {
            try theirs.send(message)
            #expect(described(try ours.receive(deadlineSeconds: 5)) == described(message))
        }
    }

    @Test func `what is too long is not sent`() throws {
        let text = String(repeating: "x", count: ConversationChannel.longestText + 1)
        #expect(throws: SocketError.tooLarge) { try ours.send(.info(text)) }
        let answer = SecretBytes(random: ConversationChannel.longestAnswer + 1)
        let held = HeldSecret(answer)
        #expect(throws: SocketError.tooLarge) { try ours.send(.answer(held)) }
    }

    @Test(arguments: 1...8 as ClosedRange<UInt8>)
    func `what is too long is not taken`(kind: UInt8) throws {
        let length =
            kind == 5
            ? ConversationChannel.longestAnswer : ConversationChannel.longestText
        #expect(throws: SocketError.tooLarge) {
            try receive([kind] + [UInt8](repeating: 0x61, count: length + 1))
        }
        #expect(throws: SocketError.tooLarge) {
            try receive([kind] + [UInt8](repeating: 0x61, count: 60_000))
        }
    }

    @Test(
        arguments: [
            [0], [9], [255, 0x61], [1, 0xFF], [2, 0xC3], [3, 0xED, 0xA0, 0x80], [4, 0x61, 0],
            [8, 0xF5], [7], [7, 6], [7, 0, 0],
        ] as [[UInt8]])
    func `what means nothing is malformed`(datagram: [UInt8]) throws {
        #expect(throws: SocketError.malformed) { try receive(datagram) }
    }

    @Test func `an empty datagram ends the conversation`() throws {
        #expect(throws: SocketError.closed) { try receive([]) }
    }

    @Test func `random datagrams are messages or errors`() throws {
        for _ in 0..<2000 {
            let datagram = RandomBytes.make(Int.random(in: 1...64))
            do {
                let message = try receive(datagram)
                #expect((1...8).contains(datagram[0]), "\(described(message))")
            } catch { #expect(error as? SocketError == .malformed) }
        }
    }

    @Test func `nothing is waited for longer than asked`() throws {
        #expect(throws: SocketError.timedOut) { try ours.receive(deadlineSeconds: 0.05) }
    }

    @Test func `an end that has gone is closed`() throws {
        let (left, right) = try ConversationChannel.pair()
        let remaining = Descriptor(owning: dup(left.descriptor.number))
        _ = shutdown(right.descriptor.number, Int32(SHUT_RDWR))
        #expect(throws: SocketError.closed) {
            try ConversationChannel(remaining).receive(deadlineSeconds: 5)
        }
        #expect(throws: SocketError.closed) { try left.send(.cancel) }
    }
}
