// SPDX-License-Identifier: Apache-2.0
internal import CYAML

/// Why libyaml can't read a text, in its own words.
package struct YAMLFault: Error {
    /// The construct that was being read, and the line and column, counted from 1, where it begins.
    package struct Context: Sendable {
        package let text: String
        package let line: Int
        package let column: Int
    }

    /// nil where memory was lacking, or the bytes are no text.
    package let problem: String?
    package let line: Int
    package let column: Int
    package let context: Context?

    init() {
        (problem, line, column, context) = (nil, 1, 1, nil)
    }

    init(_ parser: yaml_parser_t) {
        // Safe: the library's words are constants of it, or NULL.
        let error = unsafe parser.error
        let isPlaced = error == YAML_SCANNER_ERROR || error == YAML_PARSER_ERROR
        problem = unsafe isPlaced ? parser.problem.map { unsafe String(cString: $0) } : nil
        line = unsafe Int(parser.problem_mark.line) + 1
        column = unsafe Int(parser.problem_mark.column) + 1
        context = unsafe parser.context.map { text in
            unsafe Context(
                text: String(cString: text), line: Int(parser.context_mark.line) + 1,
                column: Int(parser.context_mark.column) + 1)
        }
    }
}
