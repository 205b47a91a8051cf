// SPDX-License-Identifier: Apache-2.0

/// A piece of a YAML file, with as much detail as the profile and the formatter need.
package struct YAMLToken: Sendable, Equatable {
    package enum Kind: Sendable, Equatable {
        /// `-` before an item of a block sequence.
        case item
        /// `:` after a key.
        case value
        case openMapping, closeMapping, openSequence, closeSequence, comma
        case plain, quoted
        /// A `|` or `>` scalar with all of its lines.
        case block
        case comment
        case documentStart, documentEnd
        case anchor, alias, tag, directive, complexKey
    }

    package let kind: Kind
    /// The token's bytes in the file; those of a block scalar reach to the end of its last line.
    package let range: Range<Int>
    /// Counted from 0, in bytes.
    package let line: Int
    package let column: Int
}
