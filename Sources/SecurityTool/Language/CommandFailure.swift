// SPDX-License-Identifier: Apache-2.0
internal import KeychainLinuxSystem
internal import KeychainModel
internal import KeychainStatusCodes

/// Why a command did not do what it was to do.
enum CommandFailure: Error, Equatable {
    /// The arguments make no sense: its usage is shown.
    case usage
    /// The same, with what is wrong about them.
    case badArguments(String)
    /// A status, with the historical name of the call that scripts match, and what it was about.
    case status(Int32, call: String, detail: String?)
    /// In words of its own, which stand on standard error as they are.
    case said(String, exit: Int32)

    static let usageExit: Int32 = 2
    static let unimplemented: Int32 = -4
    /// What getpass(3) without an answer amounts to.
    static let noAnswer = CommandFailure.said("", exit: 255)

    init(_ error: RequestError, _ call: String, _ detail: String? = nil) {
        self = .status(error.statusCode, call: call, detail: detail)
    }

    /// A result that was not all written must not end as if it were there (`errSecIO`).
    static let unwritten = CommandFailure.status(-36, call: "write", detail: nil)

    static func writing(_ body: () throws(SystemError) -> Void) throws(CommandFailure) {
        do throws(SystemError) { try body() } catch { throw .unwritten }
    }

    /// What does not exist on this system.
    static func absent(_ sentence: String) -> CommandFailure {
        .said("security: \(sentence)\n", exit: unimplemented & 0xFF)
    }

    /// The low eight bits of the status.
    var exit: Int32 {
        switch self {
        case .usage, .badArguments: Self.usageExit
        case .status(let status, _, _): status & 0xFF
        case .said(_, let exit): exit
        }
    }

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
