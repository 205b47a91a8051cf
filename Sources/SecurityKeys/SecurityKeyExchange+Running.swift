// SPDX-License-Identifier: Apache-2.0
package import KeychainLinuxSystem
internal import KeychainModel
internal import KeychainLocalSocket
internal import KeychainSecrets
internal import LibCrypto

extension SecurityKeyExchange {
    /// A backstop: the process that started this ends it sooner.
    private static let longestLife: UInt32 = 90
    /// Of the processor's time.
    private static let seconds: UInt32 = 20

    /// `keychain-fido make`, `keychain-fido open`: one exchange with the security keys that are
    /// plugged in, the PIN and the key on descriptor 3. A process of its own, which may be ended
    /// when nothing is touched, and whose memory never holds a keychain. Its exit code
    /// is a refusal's.
    ///
    /// `open` opens the keys' devices. It is all that is done with rights: libfido2 reads nothing
    /// that a key says before they are gone.
    package static func run(_ arguments: [String], opening open: () -> [Descriptor]) -> Never {
        let exchange: SecurityKeyExchange? =
            switch Array(arguments.dropFirst()) {
            case ["make"]: .make
            case ["open"]: .open
            default: nil
            }
        ChildExchange.answer(within: longestLife) { question throws(ChildFailure) in
            guard let exchange else { throw ChildFailure(.invalid(.badRequest)) }
            let devices = open()
            do throws(SystemError) {
                LibCryptoConfiguration.load()
                try Confinement.enterWithDevice(as: "_keychain-fido", seconds: seconds)
            } catch { throw ChildFailure(.failed(.protectorFailed)) }
            do throws(SecurityKeyError) {
                let keys = devices.compactMap { SecurityKey(on: $0) }
                return HeldSecret(try exchange.answer(to: question.bytes, by: keys))
            } catch { throw ChildFailure(RequestError(error)) }
        }
    }
}

extension ChildFailure {
    fileprivate init(_ error: RequestError) { self.init(code: Int32(error.rawValue)) }
}

extension RequestError {
    init(_ error: SecurityKeyError) {
        self =
            switch error {
            case .notThere, .unsuitable: .state(.protectorNotAvailable)
            case .otherKey: .state(.protectorChanged)
            case .wrongPIN: .refused(.wrongPIN)
            case .notTouched: .refused(.authenticationFailed)
            case .pinBlocked, .refused: .failed(.protectorFailed)
            }
    }
}
