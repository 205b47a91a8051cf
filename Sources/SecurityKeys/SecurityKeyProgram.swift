// SPDX-License-Identifier: Apache-2.0
internal import Glibc
internal import KeychainModel
internal import LocalSocket
internal import Secrets

/// `keychain-fido make`, `keychain-fido open`: one exchange with the security keys that are plugged
/// in, the PIN and the key on descriptor 3. A process of its own, which may be ended when nobody
/// touches anything, and whose memory never holds anybody's keychain. Its exit code is a refusal's.
public enum SecurityKeyProgram {
    /// A backstop: whoever started this ends it sooner.
    private static let longestLife: UInt32 = 90

    public static func run(
        _ arguments: [String], with keys: () -> [SecurityKey]
    ) -> Never {
        clearenv()
        let exchange: SecurityKeyExchange? =
            switch Array(arguments.dropFirst()) {
            case ["make"]: .make
            case ["open"]: .open
            default: nil
            }
        guard (try? ProcessHardening.apply()) != nil, let exchange else { exit(2) }
        alarm(longestLife)
        do throws(Refusal) {
            try run(
                exchange, keys, ConversationChannel(Descriptor(owning: ChildExchange.descriptor)))
            exit(0)
        } catch { exit(Int32(error.rawValue)) }
    }

    private static func run(
        _ exchange: SecurityKeyExchange, _ keys: () -> [SecurityKey],
        _ channel: ConversationChannel
    ) throws(Refusal) {
        do {
            guard case .answer(let question) = try channel.receive(deadlineSeconds: 5) else {
                throw Refusal.badRequest
            }
            let answer = try exchange.answer(to: question.bytes, by: keys())
            try channel.send(.answer(HeldSecret(answer)))
        } catch let error as SecurityKeyError {
            throw Refusal(error)
        } catch let error as Refusal {
            throw error
        } catch { throw .internalError }
    }
}

extension Refusal {
    init(_ error: SecurityKeyError) {
        self =
            switch error {
            case .notThere, .unsuitable: .protectorNotAvailable
            case .otherKey: .protectorChanged
            case .wrongPIN: .wrongPIN
            case .notTouched: .authenticationFailed
            case .pinBlocked, .refused: .protectorFailed
            }
    }
}
