// SPDX-License-Identifier: Apache-2.0
import KeychainSecrets
import SecretJSON

@testable import CredentialHelpers

/// What git, docker, cargo and others say to their helpers, and the prompts of ssh.
enum HelperRequests {
    static func read(_ bytes: [UInt8]) throws -> Bool {
        let input = HeldSecret(SecretBytes(copying: bytes))
        let value = try? SecretJSONReader.value(of: input, .request)
        if let value { try check(value) }
        let credential = try? GitCredential(input)
        if let credential, let password = credential.password { try check(credential, password) }
        if let secret = GitSecret(stored: input) {
            let again = GitSecret(stored: secret.stored)
            try require(
                again?.password.bytes.matches(secret.password.bytes) == true,
                "a stored password is another one")
        }
        _ = AskpassPrompt(String(decoding: bytes, as: UTF8.self))
        _ = try? DockerHelper.place(String(decoding: bytes, as: UTF8.self))
        return value != nil || credential?.password != nil
    }

    private static func check(_ value: SecretJSONValue) throws {
        switch value.content {
        case .text(let text):
            let secret = text.secret
            var written = SecretText()
            written.append(json: secret)
            let value = try? SecretJSONReader.value(of: written.joined(), .request)
            guard let again = value?.text?.secret else {
                throw Broken(description: "a text that was written is not read")
            }
            try require(again.bytes.matches(secret.bytes), "a text that was written is another one")
        case .list(let elements): for element in elements { try check(element) }
        case .object(let members): for member in members { try check(member.value) }
        case .null, .flag, .number: break
        }
    }

    private static func check(_ credential: GitCredential, _ password: HeldSecret) throws {
        let stored = GitSecret(credential, password: password).stored
        let again = GitSecret(stored: stored)
        try require(
            again?.password.bytes.matches(password.bytes) == true
                && again?.expiry == credential.expiry,
            "what git said is not what is told to it")
    }

    static let seeds: [[UInt8]] = [
        #"{"v":1,"registry":{"index-url":"sparse+https://a/"},"kind":"login","token":"\u00e9"}"#,
        "protocol=https\nhost=a:1\nusername=u\npassword=p\npassword_expiry_utc=1\noauth_refresh_token=r\n",
    ].map { Array($0.utf8) }
}
