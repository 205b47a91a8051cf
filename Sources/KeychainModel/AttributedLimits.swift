// SPDX-License-Identifier: Apache-2.0

/// The limits of an item of the class `attributed`: its attributes are texts, and not too many.
public enum AttributedLimits {
    public static let mostPairs = 64
    /// Bytes of a pair's name, of its value, and of all names and values together.
    public static let longestName = 256
    public static let longestValue = 4096
    public static let mostBytes = 32 * 1024
    public static let longestLabel = 4096
    public static let longestContentType = 256
    public static let longestSecret = 16 * 1024 * 1024
    /// The most items of one access group in one keychain, and of one answer.
    public static let mostItems = 100_000

    /// Throws where an item can't have these attributes.
    public static func check(_ attributes: Attributes) throws(RequestError) {
        var (pairs, bytes) = (0, 0)
        for (name, value) in attributes {
            if let pair = name.pairName {
                let (named, valued) = (pair.utf8.count, try count(value))
                try check(named, atMost: longestName)
                try check(valued, atMost: longestValue)
                pairs += 1
                bytes += named + valued
            } else if name == .label {
                try check(count(value), atMost: longestLabel)
            } else if name == .contentType {
                try check(count(value), atMost: longestContentType)
            } else {
                guard ItemClass.attributed.rule(for: name) != nil else {
                    throw .invalid(.noSuchAttribute)
                }
            }
        }
        try check(pairs, atMost: mostPairs)
        try check(bytes, atMost: mostBytes)
    }

    /// Throws where an item can't have a secret of so many bytes.
    public static func check(secretBytes count: Int) throws(RequestError) {
        try check(count, atMost: longestSecret)
    }

    private static func count(_ value: AttributeValue) throws(RequestError) -> Int {
        guard case .string(let text) = value else { throw .invalid(.badRequest) }
        return text.utf8.count
    }

    private static func check(_ count: Int, atMost most: Int) throws(RequestError) {
        guard count <= most else { throw .invalid(.dataTooLarge) }
    }
}

extension Attributes {
    /// The schema that some services add to items that were made without one.
    private static var genericSchema: AttributeValue { .string("org.freedesktop.Secret.Generic") }

    /// The pairs alone.
    public var pairs: Attributes { filter { $0.key.pairName != nil } }

    /// The pairs that tell items apart. The schema is not among them, as one of two equal items may
    /// lack it.
    public var tellingPairs: Attributes {
        filter { $0.key.pairName != nil && $0.key != .schema }
    }

    /// Whether two items of the class `attributed` are the same to the programs that made them.
    public func isSameItem(as other: Attributes) -> Bool {
        if let own = tellingSchema, let others = other.tellingSchema, own != others { return false }
        return tellingPairs == other.tellingPairs
    }

    /// The schema; nil where it does not tell items apart.
    public var tellingSchema: AttributeValue? {
        self[.schema].flatMap { $0 == Self.genericSchema ? nil : $0 }
    }
}
