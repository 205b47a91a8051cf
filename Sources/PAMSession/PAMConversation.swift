// SPDX-License-Identifier: Apache-2.0
internal import CPAM
internal import Glibc
package import KeychainSecrets

/// A message of a PAM module to the user.
package enum PAMPrompt: Sendable, Equatable {
    case hidden(String)
    case visible(String)
    case information(String)
    case error(String)
}

/// Shows the messages of PAM's modules, and returns the answers.
package protocol PAMConversation: AnyObject {
    /// The answer to a question; nil where the user gives none. Statements need none.
    func respond(to prompt: PAMPrompt) -> HeldSecret?
}

/// The object that PAM calls while a transaction runs.
final class ConversationBridge {
    static let mostRounds = 20
    private static let mostMessages = 16
    private static let longestText = 1024
    private static let longestAnswer = 1023

    private let conversation: any PAMConversation
    private(set) var rounds = 0
    private(set) var wasCancelled = false

    init(_ conversation: any PAMConversation) { self.conversation = conversation }

    /// Fills in all answers, or none: after any error those already made are wiped and freed.
    func answer(
        _ count: Int32, _ messages: UnsafeMutablePointer<UnsafePointer<pam_message>?>?,
        _ responses: UnsafeMutablePointer<UnsafeMutablePointer<pam_response>?>?
    ) -> Int32 {
        rounds += 1
        guard rounds <= Self.mostRounds, (1...Self.mostMessages).contains(Int(count)),
            let messages = unsafe messages, let responses = unsafe responses,
            let list = unsafe calloc(Int(count), MemoryLayout<pam_response>.stride)
        else { return PAM_CONV_ERR }
        // Safe: PAM gave `count` messages; the list has room for as many answers.
        let answers = unsafe list.bindMemory(to: pam_response.self, capacity: Int(count))
        for index in 0..<Int(count) {
            guard let message = unsafe messages[index], let prompt = unsafe Self.prompt(message)
            else {
                unsafe Self.discard(answers, Int(count))
                return PAM_CONV_ERR
            }
            let answer = conversation.respond(to: prompt)
            guard Self.needsAnswer(prompt) else { continue }
            guard let answer, let copy = unsafe Self.copyForPAM(answer) else {
                wasCancelled = true
                unsafe Self.discard(answers, Int(count))
                return PAM_CONV_ERR
            }
            unsafe answers[index].resp = copy
        }
        unsafe responses.pointee = answers
        return PAM_SUCCESS
    }

    private static func prompt(_ message: UnsafePointer<pam_message>) -> PAMPrompt? {
        guard let start = unsafe message.pointee.msg else { return nil }
        // Safe: a text that ends with zero; only its beginning is looked at.
        let length = unsafe strnlen(start, longestText)
        let bytes = unsafe UnsafeRawBufferPointer(start: start, count: length)
        let text = unsafe String(decoding: bytes, as: UTF8.self)
        return switch unsafe message.pointee.msg_style {
        case PAM_PROMPT_ECHO_OFF: .hidden(text)
        case PAM_PROMPT_ECHO_ON: .visible(text)
        case PAM_TEXT_INFO: .information(text)
        case PAM_ERROR_MSG: .error(text)
        default: nil
        }
    }

    private static func needsAnswer(_ prompt: PAMPrompt) -> Bool {
        switch prompt {
        case .hidden, .visible: true
        case .information, .error: false
        }
    }

    /// Copies an answer for PAM, which frees answers itself, and whose modules wipe them. It is the
    /// only copy of an answer that leaves locked memory.
    private static func copyForPAM(_ answer: HeldSecret) -> UnsafeMutablePointer<CChar>? {
        guard answer.bytes.count <= longestAnswer,
            let copy = unsafe calloc(answer.bytes.count + 1, 1)
        else { return nil }
        // Safe: one byte longer than the answer, and zero.
        answer.bytes.withBytes { bytes in
            unsafe bytes.withUnsafeBytes {
                unsafe copy.copyMemory(from: $0.baseAddress!, byteCount: $0.count)
            }
        }
        return unsafe copy.assumingMemoryBound(to: CChar.self)
    }

    private static func discard(_ answers: UnsafeMutablePointer<pam_response>, _ count: Int) {
        // Safe: made by `answer`, and not handed to PAM.
        for index in 0..<count {
            guard let text = unsafe answers[index].resp else { continue }
            unsafe explicit_bzero(text, strlen(text))
            unsafe free(text)
        }
        unsafe free(answers)
    }
}
