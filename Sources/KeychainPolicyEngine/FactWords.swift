// SPDX-License-Identifier: Apache-2.0

/// Words that lie in the value itself as long as they fit: a plain request takes no memory.
struct FactWords: Sendable {
    static let mostInline = 160
    private(set) var inline = InlineArray<160, UInt32>(repeating: 0)
    /// All of them, once they don't fit.
    private(set) var spilled: [UInt32] = []
    private(set) var count: Int

    /// The first ones are to be set.
    init(count: Int) { self.count = count }

    var isSpilled: Bool { !spilled.isEmpty }

    subscript(place: Int) -> UInt32 {
        get { isSpilled ? spilled[place] : inline[place] }
        set {
            if isSpilled { spilled[place] = newValue } else { inline[place] = newValue }
        }
    }

    mutating func append(_ word: UInt32) {
        if !isSpilled, count < Self.mostInline {
            inline[count] = word
        } else {
            if !isSpilled { spill() }
            spilled.append(word)
        }
        count += 1
    }

    private mutating func spill() {
        spilled.reserveCapacity(2 * Self.mostInline)
        for place in 0..<count { spilled.append(inline[place]) }
    }
}
