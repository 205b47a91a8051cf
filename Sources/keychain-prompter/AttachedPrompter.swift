// SPDX-License-Identifier: Apache-2.0
internal import KeychainLocalSocket
internal import KeychainMessages
internal import Terminal

/// Answers one question on the terminal of the program that asked.
struct AttachedPrompter {
    private let challenge: [UInt8]
    private let socket: String

    init(_ challenge: [UInt8], _ socket: String) {
        self.challenge = challenge
        self.socket = socket
    }

    /// Returns 0 once the question is settled, whether or not it succeeded.
    func run() -> Int32 {
        guard let screen = try? TerminalScreen(.askingProgram), screen.isForeground else {
            Complaint.say("the asking program is not in the foreground of a terminal")
            return 1
        }
        let line: DaemonLine
        do throws(SocketError) {
            line = try DaemonLine(socket)
            try line.say(words)
        } catch {
            Complaint.say(DaemonLine.complaint(error, at: socket))
            return 1
        }
        let conversation = DaemonConversation(line, screen)
        while let step = try? conversation.step() {
            switch step {
            case .accepted, .underWay: continue
            case .finished: return 0
            case .refused(let why):
                Complaint.say(why)
                return 1
            }
        }
        return 1
    }

    private var words: ClientMessage { .attachPrompter(challenge: challenge) }
}
