// SPDX-License-Identifier: Apache-2.0
internal import KeychainModel
internal import Terminal

/// Why a command did not do what it was to do: what, where, and what helps.
package struct CommandFailure: Error {
    let code: ResultCode
    /// A name for programs.
    let name: String
    let message: String
    let advice: String?
    /// The name of failures of what is too much.
    static let dataTooLarge = "dataTooLarge"
    /// Set by commands that were asked for JSON.
    var asJSON = false

    package init(_ code: ResultCode, name: String, _ message: String, advice: String? = nil) {
        self.code = code
        self.name = name
        self.message = message
        self.advice = advice
    }

    /// `task` completes "could not …".
    /// `because`: the rules of the policy that it comes from.
    init(_ error: RequestError, _ task: String, keychain: String?, because rules: [String] = []) {
        let meaning = ErrorMeaning(error, keychain: keychain)
        let named = rules.isEmpty ? "" : ": " + rules.joined(separator: ", ")
        self.init(
            meaning.code, name: "\(error)",
            "could not \(task): \(meaning.sentence)\(named)", advice: meaning.advice)
    }

    /// Whether what was asked about is not there.
    package var isOfAbsence: Bool { code == .notFound }

    func report() {
        if asJSON {
            JSONOutput.write(ErrorRecord(self), to: .error)
            return
        }
        var text = "keychainctl: \(PlainText.line(message))\n"
        if let advice { text += "keychainctl: \(PlainText.line(advice))\n" }
        StandardStream.error.write(text)
    }
}

/// An error as `--json` shows it.
struct ErrorRecord: Encodable {
    struct Content: Encodable {
        let name: String
        let exitCode: Int32
        let message: String
        let advice: String?
    }

    let error: Content

    init(_ failure: CommandFailure) {
        error = Content(
            name: failure.name, exitCode: failure.code.rawValue, message: failure.message,
            advice: failure.advice)
    }
}
