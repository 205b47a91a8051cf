// SPDX-License-Identifier: Apache-2.0
package import KeychainPolicyModel
internal import PolicyLanguage
internal import PolicySyntax

/// A request as a line of JSON, in the shape of `request:` in tests.
package enum RequestLine {
    /// Longer lines are not read.
    package static let longest = 1 << 20

    /// Why a line is no request.
    package struct Mistake: Error, Sendable {
        package let message: String
    }

    /// `today` stands where the request has no `at`: local date in days since 1970-01-01.
    package static func read(
        _ line: some StringProtocol, today: Int32
    ) throws(Mistake) -> PolicyRequest {
        guard line.utf8.count <= longest else {
            throw Mistake(message: "the line is longer than \(longest) bytes")
        }
        let value: YAMLNode
        do throws(JSONReader.Mistake) {
            value = try JSONReader.read(line)
        } catch {
            throw Mistake(message: error.message)
        }
        var reader = FileReader(
            SourceFile(path: "request", bytes: []), level: 0, today: today)
        let request = reader.request(value)
        if let first = reader.diagnostics.first(where: { $0.severity == .error }) {
            throw Mistake(message: first.message + (first.advice.map { ": \($0)" } ?? ""))
        }
        guard let request else { throw Mistake(message: "this is no request") }
        return request
    }
}
