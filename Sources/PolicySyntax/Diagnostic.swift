// SPDX-License-Identifier: Apache-2.0

/// A place in a file.
package struct SourcePlace: Sendable, Hashable {
    /// Counted from 1; a column counts Unicode scalars.
    package var line: Int
    package var column: Int

    package init(line: Int, column: Int) {
        self.line = line
        self.column = column
    }

    package static let start = SourcePlace(line: 1, column: 1)
}

/// One message about a policy, with its place.
package struct Diagnostic: Error, Sendable, Hashable {
    package let code: DiagnosticCode
    package let file: String
    package let place: SourcePlace
    /// The number of columns that it is about.
    package let length: Int
    package let message: String
    /// Advice on the mistake, shown after the caret.
    package let advice: String?
    /// Further facts, each on a line of its own.
    package var notes: [String]
    /// The line of the source; nil where there is none.
    package let excerpt: String?

    package init(
        _ code: DiagnosticCode, in source: SourceFile, at place: SourcePlace, length: Int = 1,
        _ message: String, advice: String? = nil, notes: [String] = []
    ) {
        self.code = code
        file = source.path
        self.place = place
        self.length = length
        self.message = message
        self.advice = advice
        self.notes = notes
        excerpt = source.line(place.line)
    }

    /// A message about a file or folder as a whole.
    package init(_ code: DiagnosticCode, path: String, _ message: String, advice: String? = nil) {
        self.code = code
        file = path
        place = .start
        length = 1
        self.message = message
        self.advice = advice
        notes = []
        excerpt = nil
    }

    package var severity: DiagnosticSeverity { code.severity }
}

extension Diagnostic: Comparable {
    /// Sorted by place, so that the same mistakes are always reported in the same order.
    package static func < (a: Self, b: Self) -> Bool {
        let (first, second) = (PolicyPath(a.file), PolicyPath(b.file))
        if first != second { return first < second }
        return (a.place.line, a.place.column, a.code.rawValue, a.message)
            < (b.place.line, b.place.column, b.code.rawValue, b.message)
    }
}

/// A path, compared by its bytes.
package struct PolicyPath: Comparable {
    package let path: String
    package init(_ path: String) { self.path = path }
    package static func == (a: Self, b: Self) -> Bool { a.path.utf8.elementsEqual(b.path.utf8) }
    package static func < (a: Self, b: Self) -> Bool {
        a.path.utf8.lexicographicallyPrecedes(b.path.utf8)
    }
}
