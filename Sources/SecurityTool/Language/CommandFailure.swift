// SPDX-License-Identifier: Apache-2.0
internal import KeychainLinuxSystem
internal import KeychainModel
internal import KeychainStatusCodes

/// Why a command failed.
enum CommandFailure: Error, Equatable {
    /// The arguments make no sense; the usage is shown.
    case usage
    /// The same, with the mistake.
    case badArguments(String)
    /// A status, with the historical call's name that scripts match, and its subject.
    case status(Int32, call: String, detail: String?)
    /// A text that is written to standard error unchanged.
    case said(String, exit: Int32)

    static let usageExit: Int32 = 2
    static let unimplemented: Int32 = -4
    /// The failure of getpass(3) without an answer.
    static let noAnswer = CommandFailure.said("", exit: 255)

    init(_ error: RequestError, _ call: String, _ detail: String? = nil) {
        self = .status(error.statusCode, call: call, detail: detail)
    }

    /// A result that was not completely written must not look complete (`errSecIO`).
    static let unwritten = CommandFailure.status(-36, call: "write", detail: nil)

    static func writing(_ body: () throws(SystemError) -> Void) throws(CommandFailure) {
        do throws(SystemError) { try body() } catch { throw .unwritten }
    }

    /// The failure for a feature that this system lacks.
    static func absent(_ sentence: String) -> CommandFailure {
        .said("security: \(sentence)\n", exit: unimplemented & 0xFF)
    }

    /// The number that the command returns.
    var result: Int32 {
        switch self {
        case .usage, .badArguments: Self.usageExit
        case .status(let status, _, _): status
        case .said(_, let exit): exit
        }
    }

    /// The low eight bits of the result.
    var exit: Int32 { result & 0xFF }

    var text: String {
        switch self {
        case .usage: ""
        case .badArguments(let sentence): "security: \(sentence)\n"
        case .status(let status, let call, let detail):
            "security: \(call)\(detail.map { " " + $0 } ?? ""): \(Self.message(status))\n"
        case .said(let text, _): text
        }
    }

    static func message(_ status: Int32) -> String {
        StatusMessages.known(status) ?? String(status)
    }
}
