// SPDX-License-Identifier: Apache-2.0

/// A piece of a YAML file, as far as the profile and the formatter need to know it.
package struct YAMLToken: Sendable, Equatable {
    package enum Kind: Sendable, Equatable {
        /// `-` before an item of a block sequence.
        case item
        /// `:` behind a key.
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
    /// The bytes of the file; a block scalar's reach to the end of its last line.
    package let range: Range<Int>
    /// From 0, in bytes.
    package let line: Int
    package let column: Int
}
