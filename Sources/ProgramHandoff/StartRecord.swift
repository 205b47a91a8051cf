// SPDX-License-Identifier: Apache-2.0
internal import CStartRecord
internal import KeychainLinuxSystem
internal import KeychainLocalSocket

/// The records, coded by the C code that `keychain-starter` uses.
enum StartRecord {
    enum Reply: Equatable {
        case started
        case ended(ExitStatus)
        /// The connection is bound, the folders are adopted, or the process has been told to end.
        case done
        case noService
        case busy
        case notInstalled
        case failed
        /// A folder is neither root's nor the number's, or a file in it has several names.
        case foreignFolder
        /// This program, its version or its request is refused.
        case refused
    }

    static let longestReply = Int(KC_START_REPLY_SIZE)

    /// Throws `.badRequest` where the request is too long, or makes no sense.
    static func bytes(of request: ProgramRequest) throws(StarterError) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: Int(KC_START_REQUEST_MAX))
        let count =
            switch request {
            case .authentication(let request): try authentication(request, &bytes)
            // Safe: the array has the size of the largest request, here and below.
            case .keychainFile(let seconds, let user):
                unsafe kc_start_encode_import(user, seconds, &bytes)
            case .policies(let folders): try policies(folders, &bytes)
            case .tpm(let task, let user): try tpm(task, user, &bytes)
            case .securityKey(let task, let user):
                unsafe kc_start_encode_security_key(
                    user, task == .make ? KC_START_MAKE : KC_START_OPEN, &bytes)
            }
        return try whole(bytes, count)
    }

    /// Makes a connection the user's: requests of no other user are taken from it.
    static func bind(_ user: UInt32) throws(StarterError) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: Int(KC_START_REQUEST_MAX))
        // Safe: the array has the size of the largest request.
        let count = unsafe kc_start_encode_bind(user, &bytes)
        return try whole(bytes, count)
    }

    /// Gives the user's folders to a number. Throws `.badRequest` for one outside of the range.
    static func adopt(user: UInt32, number: UInt32) throws(StarterError) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: Int(KC_START_REQUEST_MAX))
        // Safe: as above.
        let count = unsafe kc_start_encode_adopt(user, number, &bytes)
        return try whole(bytes, count)
    }

    /// Ends a process of a number's. Throws `.badRequest` for one outside of the range.
    static func end(user: UInt32, number: UInt32) throws(StarterError) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: Int(KC_START_REQUEST_MAX))
        // Safe: as above.
        let count = unsafe kc_start_encode_end(user, number, &bytes)
        return try whole(bytes, count)
    }

    private static func whole(_ bytes: [UInt8], _ count: Int) throws(StarterError) -> [UInt8] {
        guard count > 0 else { throw .badRequest }
        return Array(bytes.prefix(count))
    }

    private static func authentication(
        _ request: AuthenticationRequest, _ bytes: inout [UInt8]
    ) throws(StarterError) -> Int {
        let asker = request.asker ?? ""
        // A C string ends at a zero byte.
        guard ![request.service, request.account, asker].contains(where: { $0.utf8.contains(0) })
        else { throw .badRequest }
        // Safe: the texts are borrowed for the call, and the array has the size of a request.
        return unsafe kc_start_encode_authentication(
            request.user, request.service, request.account, asker, &bytes)
    }

    private static func policies(
        _ folders: [String], _ bytes: inout [UInt8]
    ) throws(StarterError) -> Int {
        guard !folders.contains(where: { $0.utf8.contains(0) }) else { throw .badRequest }
        let texts: [UInt8] = folders.flatMap { Array($0.utf8) + [UInt8(0)] }
        // Safe: reads the texts up to their count, and the array has the size of a request.
        return unsafe kc_start_encode_policy(texts, texts.count, &bytes)
    }

    private static func tpm(
        _ task: TPMTask, _ user: UInt32, _ bytes: inout [UInt8]
    ) throws(StarterError) -> Int {
        var mask: UInt32 = 0
        var action = KC_START_OPEN
        if case .seal(let registers) = task {
            guard registers.allSatisfy({ $0 < KC_START_REGISTERS }) else { throw .badRequest }
            for register in registers { mask |= 1 << UInt32(register) }
            action = KC_START_MAKE
        }
        // Safe: the array has the size of a request.
        return unsafe kc_start_encode_tpm(user, action, mask, &bytes)
    }

    static func reply(in bytes: [UInt8]) throws(SocketError) -> Reply {
        var word = KC_START_FAILED
        var status: UInt32 = 0
        // Safe: reads the array, and writes the word and the status.
        guard unsafe kc_start_reply_decode(bytes, bytes.count, &word, &status) == KC_START_OK
        else { throw .malformed }
        return switch word {
        case KC_START_STARTED: .started
        case KC_START_ENDED:
            .ended(ExitStatus(code: status == KC_START_BY_SIGNAL ? nil : Int32(clamping: status)))
        case KC_START_DONE: .done
        case KC_START_NO_SERVICE: .noService
        case KC_START_BUSY: .busy
        case KC_START_NOT_INSTALLED: .notInstalled
        case KC_START_FAILED: .failed
        case KC_START_FOREIGN_FOLDER: .foreignFolder
        default: .refused
        }
    }
}
