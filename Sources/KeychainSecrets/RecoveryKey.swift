// SPDX-License-Identifier: Apache-2.0

/// A key that a person keeps on paper and rarely types: seven groups of five characters, the last
/// of which checks the others and the group's place.
///
/// 140 random bits. A password is stretched because it can be guessed; 2^140 guesses are impossible
/// at any speed, so that one hash is enough.
package struct RecoveryKey: ~Copyable, Sendable {
    package static let groupCount = 7
    /// The characters of a group, including the check.
    package static let groupLength = 5
    static let symbolCount = groupCount * (groupLength - 1)

    /// The values of the characters without the checks, each less than 32.
    private let symbols: SecretBytes

    /// A new random key.
    package static func random() -> RecoveryKey {
        let random = SecretBytes(random: symbolCount)
        // 32 divides 256, so all values are equally likely.
        return RecoveryKey(
            symbols: SecretBytes(count: symbolCount) { span in
                random.withBytes { source in
                    for index in 0..<symbolCount { span.set(index, source.byte(index) & 31) }
                }
            })
    }

    /// Parses typed text, in either case, with any spaces and hyphens.
    package init(typed text: borrowing SecretBytes) throws(RecoveryKeyError) {
        let length = Self.groupCount * Self.groupLength
        guard text.count <= Self.longestTyped else { throw .wrongLength }
        var values = SecretBytes(count: length) { (_: inout MutableRawSpan) in }
        var count = 0
        for index in 0..<text.count {
            let character = text.withBytes { $0.byte(index) }
            if Self.separators.contains(character) { continue }
            guard count < length else { throw .wrongLength }
            guard let value = Self.value(character) else {
                throw .strangeCharacter(group: count / Self.groupLength + 1)
            }
            let place = count
            values.withMutableBytes { $0.set(place, value) }
            count += 1
        }
        guard count == length else { throw .wrongLength }
        try self.init(checking: values)
    }

    private init(checking values: borrowing SecretBytes) throws(RecoveryKeyError) {
        let wrong = values.withBytes { values in
            (0..<Self.groupCount).first { group in
                let start = group * Self.groupLength
                let check = Self.check(group) { values.byte(start + $0) }
                return check != values.byte(start + Self.groupLength - 1)
            }
        }
        if let wrong { throw .mistyped(group: wrong + 1) }
        let kept = SecretBytes(count: Self.symbolCount) { span in
            values.withBytes { values in
                for index in 0..<Self.symbolCount {
                    let (group, place) = index.quotientAndRemainder(
                        dividingBy: Self.groupLength - 1)
                    span.set(index, values.byte(group * Self.groupLength + place))
                }
            }
        }
        self.init(symbols: kept)
    }

    private init(symbols: consuming SecretBytes) { self.symbols = symbols }

    /// The key in its printed form: groups with hyphens between them.
    package borrowing func text() -> SecretBytes {
        var writer = SecretWriter(
            capacity: Self.groupCount * Self.groupLength + Self.groupCount - 1)
        for group in 1...Self.groupCount {
            if group > 1 { writer.append(SecretBytes(copying: [UInt8(ascii: "-")])) }
            writer.append(self.group(group))
        }
        return writer.finish()
    }

    /// One of the groups, counted from 1.
    package borrowing func group(_ number: Int) -> SecretBytes {
        precondition((1...Self.groupCount).contains(number))
        let start = (number - 1) * (Self.groupLength - 1)
        return symbols.withBytes { symbols in
            SecretBytes(count: Self.groupLength) { (span: inout MutableRawSpan) in
                for place in 0..<Self.groupLength - 1 {
                    span.set(place, Self.character(symbols.byte(start + place)))
                }
                let check = Self.check(number - 1) { symbols.byte(start + $0) }
                span.set(Self.groupLength - 1, Self.character(check))
            }
        }
    }

    /// Whether the typed text is the group of that number.
    package borrowing func group(_ number: Int, isTypedAs text: borrowing SecretBytes) -> Bool {
        guard text.count <= Self.longestTyped else { return false }
        var typed = SecretWriter(capacity: Self.longestTyped)
        for index in 0..<text.count {
            let character = text.withBytes { $0.byte(index) }
            if Self.separators.contains(character) { continue }
            guard let value = Self.value(character) else { return false }
            typed.append(SecretBytes(copying: [Self.character(value)]))
        }
        return typed.finish().matches(group(number))
    }

    /// The sealing key that the characters give.
    package borrowing func key() -> SealingKey {
        SealingKey(
            KeyedHash.secret(key: symbols, Array("keychain recovery key 1".utf8)))
    }
}

/// The mistake in a typed recovery key. Groups are counted from 1.
package enum RecoveryKeyError: Error, Equatable, Sendable {
    case wrongLength
    /// The group has a character that recovery keys don't have.
    case strangeCharacter(group: Int)
    /// The group's check fails: a character is wrong, two have changed places, or the group is in
    /// the wrong place.
    case mistyped(group: Int)
}

// MARK: Characters and checks

extension RecoveryKey {
    fileprivate static let longestTyped = 128
    fileprivate static let separators = [UInt8(ascii: " "), UInt8(ascii: "-"), UInt8(ascii: "\t")]
    /// Digits and letters without 0, 1, I and O, which look alike.
    fileprivate static let alphabet = Array("23456789ABCDEFGHJKLMNPQRSTUVWXYZ".utf8)

    fileprivate static func character(_ value: UInt8) -> UInt8 { alphabet[Int(value)] }

    fileprivate static func value(_ character: UInt8) -> UInt8? {
        let isSmall = (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(character)
        let capital = isSmall ? character - 0x20 : character
        return alphabet.firstIndex(of: capital).map { UInt8($0) }
    }

    /// A Reed–Solomon check over GF(32): it detects any one wrong character, and any two that have
    /// changed places. It includes the group's number, so that groups that change places are
    /// detected too.
    fileprivate static func check(_ group: Int, _ symbol: (Int) -> UInt8) -> UInt8 {
        var sum: UInt8 = 0
        for place in 0..<groupLength - 1 { sum = times2(sum ^ symbol(place)) }
        return sum ^ UInt8(group + 1)
    }

    /// Multiplies by x in GF(32) with x⁵ + x² + 1.
    private static func times2(_ value: UInt8) -> UInt8 {
        let shifted = value << 1
        return shifted & 32 == 0 ? shifted : shifted ^ 0b100101
    }
}

extension MutableRawSpan {
    fileprivate mutating func set(_ offset: Int, _ value: UInt8) {
        precondition(offset < byteCount)
        storeBytes(of: value, toByteOffset: offset, as: UInt8.self)
    }
}
