// SPDX-License-Identifier: Apache-2.0
internal import Glibc
internal import KeychainLocalSocket
internal import KeychainMessages

/// Answers every question of the login session it was started in, until it is interrupted or can
/// show them nowhere any more.
///
/// The daemon ends the connection where a question was not answered in time. The prompter then
/// registers again, as it does after the daemon was restarted.
struct RegisteredPrompter {
    private enum End { case lineLost, over }

    /// After a lost connection, the number of attempts to connect again; `pauseSeconds` is the time
    /// between them.
    private static let calls = 60
    private static let pauseSeconds: UInt32 = 1

    private let socket: String
    private let screen: any QuestionScreen

    init(_ socket: String, on screen: any QuestionScreen) {
        self.socket = socket
        self.screen = screen
    }

    func run() -> Int32 {
        var line: DaemonLine
        do throws(SocketError) { line = try DaemonLine(socket) } catch {
            Complaint.say(DaemonLine.complaint(error, at: socket))
            return 1
        }
        while serve(line) == .lineLost {
            guard let next = callAgain() else {
                Complaint.say("the keychain service at \(socket) has gone away")
                return 1
            }
            line = next
        }
        return 1
    }

    private func serve(_ line: DaemonLine) -> End {
        guard (try? line.say(registration())) != nil else { return .lineLost }
        let conversation = DaemonConversation(line, screen)
        while true {
            do throws(DaemonConversation.Failure) {
                switch try conversation.step() {
                case .accepted: screen.waits()
                case .underWay, .finished: continue
                case .refused(let why):
                    Complaint.say(why)
                    return .over
                }
            } catch {
                guard error == .screenLost else { return .lineLost }
                Complaint.say("questions can't be shown here any more")
                return .over
            }
        }
    }

    private func registration() -> ClientMessage {
        .registerPrompter(showsWindows: screen.lookForWindows(), on: screen.server)
    }

    private func callAgain() -> DaemonLine? {
        for _ in 0..<Self.calls {
            sleep(Self.pauseSeconds)
            if let line = try? DaemonLine(socket) { return line }
        }
        return nil
    }
}
