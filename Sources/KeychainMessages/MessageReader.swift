// SPDX-License-Identifier: Apache-2.0
package import KeychainModel
internal import KeychainSecrets

/// A value that messages carry. Reading is total: any bytes are a value or an error.
package protocol MessageValue: Sendable {
    func encode(into message: inout MessageWriter)
    init(_ message: inout MessageReader) throws(MalformedBytes)
}

/// Writes a message; its secrets are collected beside it.
package struct MessageWriter {
    package var bytes: ByteWriter
    private(set) var attachments = SecretAttachments()

    init(capacity: Int) { bytes = ByteWriter(capacity: capacity) }

    mutating func append(_ flag: Bool) { bytes.append(flag ? 1 : 0) }

    mutating func append(_ real: Double) { bytes.append(number: real.bitPattern) }

    mutating func append(clamping number: Int) { bytes.append(number: UInt64(clamping: number)) }

    mutating func append(_ value: some RawRepresentable<UInt8>) { bytes.append(value.rawValue) }

    mutating func append(_ text: String) { bytes.append(text: text) }

    mutating func append(_ text: String?) {
        append(text != nil)
        if let text { append(text) }
    }

    mutating func append(_ value: (some MessageValue)?) {
        append(value != nil)
        if let value { value.encode(into: &self) }
    }

    mutating func append(_ values: [some MessageValue]) {
        bytes.append(count: values.count)
        let values = values.span
        for place in values.indices { values[place].encode(into: &self) }
    }

    mutating func append(_ secret: HeldSecret) {
        bytes.append(count: secret.bytes.count)
        attachments.add(secret)
    }

    mutating func append(_ secret: HeldSecret?) {
        append(secret != nil)
        if let secret { append(secret) }
    }
}

/// Reads a message, and the secrets beside it in their order.
package struct MessageReader {
    package var bytes: ByteReader
    private var attachments: SecretAttachments

    init(_ message: [UInt8], _ secrets: HeldSecret?) {
        bytes = ByteReader(message)
        attachments = SecretAttachments(secrets)
    }

    mutating func flag() throws(MalformedBytes) -> Bool {
        switch try bytes.byte() {
        case 0: false
        case 1: true
        default: throw MalformedBytes()
        }
    }

    mutating func real() throws(MalformedBytes) -> Double {
        Double(bitPattern: try bytes.number(UInt64.self))
    }

    mutating func clampedNumber() throws(MalformedBytes) -> Int {
        Int(clamping: try bytes.number(UInt64.self))
    }

    mutating func raw<Value: RawRepresentable<UInt8>>(
        _: Value.Type = Value.self
    ) throws(MalformedBytes) -> Value {
        guard let value = Value(rawValue: try bytes.byte()) else { throw MalformedBytes() }
        return value
    }

    mutating func optionalText() throws(MalformedBytes) -> String? {
        try flag() ? try bytes.text() : nil
    }

    mutating func texts(atMost most: Int = .max) throws(MalformedBytes) -> [String] {
        let count = try bytes.count(ofAtLeast: 4)
        guard count <= most else { throw MalformedBytes() }
        var texts: [String] = []
        texts.reserveCapacity(count)
        for _ in 0..<count { texts.append(try bytes.text()) }
        return texts
    }

    mutating func value<Value: MessageValue>(
        _: Value.Type = Value.self
    ) throws(MalformedBytes) -> Value {
        try Value(&self)
    }

    mutating func optional<Value: MessageValue>(
        _: Value.Type = Value.self
    ) throws(MalformedBytes) -> Value? {
        try flag() ? try Value(&self) : nil
    }

    /// A list of values, each of at least `least` bytes.
    mutating func values<Value: MessageValue>(
        _: Value.Type = Value.self, ofAtLeast least: Int
    ) throws(MalformedBytes) -> [Value] {
        let count = try bytes.count(ofAtLeast: least)
        var values: [Value] = []
        values.reserveCapacity(count)
        for _ in 0..<count { values.append(try Value(&self)) }
        return values
    }

    mutating func identifier(_ count: Int) throws(MalformedBytes) -> [UInt8] {
        Array(try bytes.take(count))
    }

    mutating func secret() throws(MalformedBytes) -> HeldSecret {
        try attachments.take(Int(try bytes.number(UInt32.self)))
    }

    mutating func optionalSecret() throws(MalformedBytes) -> HeldSecret? {
        try flag() ? try secret() : nil
    }

    /// Throws unless the message and its secrets were read completely.
    func end() throws(MalformedBytes) {
        guard bytes.isAtEnd, attachments.isEmpty else { throw MalformedBytes() }
    }
}

/// Why bytes can't be read as a message.
package enum MessageError: Error, Equatable, Sendable {
    case malformed
    /// The version is older or newer than this one: the meaning of its bytes is not known here.
    case older
    case newer
    /// The very first version, which understands no later one.
    case firstVersion
}

/// The first bytes of every message: 0 (1) ‖ version (1) ‖ kind (2).
///
/// The first version was Protocol Buffers, where no message begins with a zero. A refusal has the
/// same layout in every later version, so that each side can tell the other which one is older.
enum MessageHeader {
    static let version: UInt8 = 5

    static func append(_ kind: UInt16, to message: inout MessageWriter) {
        message.bytes.append(0)
        message.bytes.append(version)
        message.bytes.append(number: kind)
    }

    /// The version and the kind.
    static func read(
        _ message: inout MessageReader
    ) throws(MessageError) -> (version: UInt8, kind: UInt16) {
        let mark: UInt8
        do { mark = try message.bytes.byte() } catch { throw .malformed }
        guard mark == 0 else { throw .firstVersion }
        do {
            return (try message.bytes.byte(), try message.bytes.number(UInt16.self))
        } catch { throw .malformed }
    }

    /// Throws for a body of another version.
    static func check(_ other: UInt8) throws(MessageError) {
        guard other != version else { return }
        throw other < version ? .older : .newer
    }
}
