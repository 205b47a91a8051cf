// SPDX-License-Identifier: Apache-2.0

/// The part of CBOR that security keys use (RFC 8949, the canonical form of CTAP2).
indirect enum CBOR: Equatable {
    case number(Int)
    case bytes([UInt8])
    case text(String)
    case list([CBOR])
    /// The entries in their written order.
    case map([(CBOR, CBOR)])
    case boolean(Bool)

    static func == (a: CBOR, b: CBOR) -> Bool { a.encoded == b.encoded }

    subscript(key: Int) -> CBOR? { self[.number(key)] }
    subscript(key: String) -> CBOR? { self[.text(key)] }

    private subscript(key: CBOR) -> CBOR? {
        guard case .map(let entries) = self else { return nil }
        return entries.first { $0.0 == key }?.1
    }

    var bytes: [UInt8]? { if case .bytes(let bytes) = self { bytes } else { nil } }
    var number: Int? { if case .number(let number) = self { number } else { nil } }
    var isTrue: Bool { self == .boolean(true) }

    var encoded: [UInt8] {
        switch self {
        case .number(let number):
            number < 0 ? Self.head(1, -1 - number) : Self.head(0, number)
        case .bytes(let bytes): Self.head(2, bytes.count) + bytes
        case .text(let text): Self.head(3, text.utf8.count) + Array(text.utf8)
        case .list(let items): Self.head(4, items.count) + items.flatMap(\.encoded)
        case .map(let entries):
            Self.head(5, entries.count) + entries.flatMap { $0.0.encoded + $0.1.encoded }
        case .boolean(let isTrue): [isTrue ? 0xF5 : 0xF4]
        }
    }

    private static func head(_ kind: UInt8, _ count: Int) -> [UInt8] {
        switch count {
        case 0..<24: [kind << 5 | UInt8(count)]
        case 24..<256: [kind << 5 | 24, UInt8(count)]
        default: [kind << 5 | 25, UInt8(count >> 8), UInt8(count & 0xFF)]
        }
    }

    init?(_ bytes: [UInt8]) {
        var rest = bytes[...]
        guard let value = Self.read(&rest), rest.isEmpty else { return nil }
        self = value
    }

    private static func read(_ rest: inout ArraySlice<UInt8>) -> CBOR? {
        guard let first = rest.popFirst() else { return nil }
        guard let count = count(first & 0x1F, &rest) else { return nil }
        switch first >> 5 {
        case 0: return .number(count)
        case 1: return .number(-1 - count)
        case 2: return take(count, &rest).map { .bytes($0) }
        case 3: return take(count, &rest).map { .text(String(decoding: $0, as: UTF8.self)) }
        case 4:
            var items: [CBOR] = []
            for _ in 0..<count {
                guard let item = read(&rest) else { return nil }
                items.append(item)
            }
            return .list(items)
        case 5:
            var entries: [(CBOR, CBOR)] = []
            for _ in 0..<count {
                guard let key = read(&rest), let value = read(&rest) else { return nil }
                entries.append((key, value))
            }
            return .map(entries)
        case 7 where count == 20 || count == 21: return .boolean(count == 21)
        default: return nil
        }
    }

    private static func count(_ short: UInt8, _ rest: inout ArraySlice<UInt8>) -> Int? {
        switch short {
        case 0..<24: Int(short)
        case 24: take(1, &rest).map { Int($0[0]) }
        case 25: take(2, &rest).map { Int($0[0]) << 8 | Int($0[1]) }
        default: nil
        }
    }

    private static func take(_ count: Int, _ rest: inout ArraySlice<UInt8>) -> [UInt8]? {
        guard rest.count >= count else { return nil }
        defer { rest = rest.dropFirst(count) }
        return Array(rest.prefix(count))
    }
}
