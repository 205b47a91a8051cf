// SPDX-License-Identifier: Apache-2.0

/// How the nodes of an index lead to one another.
package enum IndexNode {
    /// How many nodes lie above one another at most.
    package static let mostDepth = 4
    /// Set in a slot's target when it is a node.
    package static let isNode: UInt32 = 1 << 31

    /// Where the fact's slot would be in a table of so many bits.
    @inline(__always)
    package static func slot(_ fact: UInt32, _ bits: UInt32) -> Int {
        Int(truncatingIfNeeded: (fact &* 0x9E37_79B1) &>> (32 &- bits))
    }
}
