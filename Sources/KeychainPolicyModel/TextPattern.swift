// SPDX-License-Identifier: Apache-2.0

/// A pattern for a text: the text itself, or one with stars. There are no regular expressions.
///
/// In a pattern that begins with `/` a star stays within a segment and a final `**` crosses them;
/// elsewhere a final `*` stands for anything and a star inside for any run without `/`. A star may
/// stand for nothing. `*.suffix` matches any depth.
public enum TextPattern: Sendable, Hashable {
    case literal(PolicyText)
    /// Any text with this beginning: `ssh.*`, `/opt/**`; the empty prefix matches every text.
    case prefix(PolicyText)
    /// Any text with this end: `*.corp.example`, kept with its dot.
    case suffix(PolicyText)
    /// Pieces, in order, with a run without `/` between each two; with `open`, any text may follow.
    case pieces([PolicyText], open: Bool)

    /// A mistake in a written pattern.
    public enum Mistake: Error, Hashable {
        case empty
        /// `*suffix`, or `*.a.*`: only `*.suffix` may begin with a star.
        case leadingStar
        /// `**` anywhere but at the end.
        case doubleStarInside
    }

    public init(_ written: String) throws(Mistake) {
        guard !written.isEmpty else { throw .empty }
        let star = UInt8(ascii: "*")
        guard written.utf8.contains(star) else {
            self = .literal(PolicyText(written))
            return
        }
        if written == "*" || written == "**" {
            self = .prefix("")
        } else if written.utf8.first == star {
            self = try .suffix(Self.suffix(written))
        } else {
            self = try Self.starred(written)
        }
    }

    private static func suffix(_ written: String) throws(Mistake) -> PolicyText {
        let rest = written.dropFirst()
        guard rest.first == ".", rest.utf8.count > 1, !rest.contains("*") else {
            throw .leadingStar
        }
        return PolicyText(String(rest))
    }

    private static func starred(_ written: String) throws(Mistake) -> TextPattern {
        let isPath = written.utf8.first == UInt8(ascii: "/")
        var body = Substring(written)
        var open = false
        if body.hasSuffix("**") {
            body.removeLast(2)
            open = true
        } else if !isPath, body.hasSuffix("*") {
            body.removeLast()
            open = true
        }
        guard !body.contains("**"), !(open && body.hasSuffix("*")) else {
            throw .doubleStarInside
        }
        let pieces = body.split(separator: "*", omittingEmptySubsequences: false)
            .map { PolicyText(String($0)) }
        if pieces.count == 1, let only = pieces.first { return .prefix(only) }
        return .pieces(pieces, open: open)
    }

    public func matches(_ text: PolicyText) -> Bool {
        switch self {
        case .literal(let own): own == text
        case .prefix(let start): text.string.utf8.starts(with: start.string.utf8)
        case .suffix(let end):
            text.string.utf8.reversed().starts(with: end.string.utf8.reversed())
        case .pieces(let pieces, let open):
            Self.match(pieces.map { Array($0.string.utf8) }, open, Array(text.string.utf8))
        }
    }

    /// The leftmost place for each piece is the best one: a star crosses no `/`, so a later place
    /// gives the following stars no further choice.
    package static func match(_ pieces: [[UInt8]], _ open: Bool, _ text: [UInt8]) -> Bool {
        guard let first = pieces.first, text.starts(with: first) else { return false }
        var rest = text[first.count...]
        for (number, piece) in pieces.enumerated().dropFirst() {
            let isLast = number == pieces.count - 1
            guard let after = place(piece, in: rest, atEnd: isLast && !open) else { return false }
            rest = after
        }
        return open || rest.isEmpty
    }

    /// The rest after the piece, where the piece stands after a run without `/`.
    private static func place(
        _ piece: [UInt8], in rest: ArraySlice<UInt8>, atEnd: Bool
    ) -> ArraySlice<UInt8>? {
        var rest = rest
        while true {
            let fits = rest.starts(with: piece) && (!atEnd || rest.count == piece.count)
            if fits { return rest.dropFirst(piece.count) }
            guard let next = rest.first, next != UInt8(ascii: "/") else { return nil }
            rest.removeFirst()
        }
    }
}

extension TextPattern: CustomStringConvertible {
    /// The pattern as it is written in policies.
    public var description: String {
        switch self {
        case .literal(let text): text.string
        case .prefix(let start):
            start.string + (start.string.utf8.first == UInt8(ascii: "/") ? "**" : "*")
        case .suffix(let end): "*" + end.string
        case .pieces(let pieces, let open):
            pieces.map(\.string).joined(separator: "*")
                + (open ? (pieces.first?.string.utf8.first == UInt8(ascii: "/") ? "**" : "*") : "")
        }
    }
}
