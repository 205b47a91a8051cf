// SPDX-License-Identifier: Apache-2.0
package import KeychainMessages
package import KeychainModel
internal import KeychainSecrets
internal import SecretJSON
internal import Terminal

/// What one run of a helper has: the keychain, and the tool at the other end of its standard streams.
package final class HelperSession {
    package typealias Endpoint = () -> Result<any KeychainEndpoint, RequestError>

    /// Bytes of all that a tool says. Tokens of single sign-on are long; nothing else is.
    static let longestRequest = 1024 * 1024

    let items: CredentialItems
    private let name: String

    package init(_ name: String, asking open: @escaping Endpoint) {
        self.name = name
        items = CredentialItems(asking: open)
    }

    /// All that the tool says, up to the end of its words.
    func request() throws(HelperFailure) -> HeldSecret {
        do throws(TerminalError) {
            return HeldSecret(try StandardInput.read(limit: Self.longestRequest))
        } catch { throw HelperFailure(error) }
    }

    /// The tool's next line; nil where it has no more to say.
    func requestLine() throws(HelperFailure) -> HeldSecret? {
        do throws(TerminalError) {
            guard let line = try InputLines.secretLine() else { return nil }
            return HeldSecret(line)
        } catch { throw HelperFailure(error) }
    }

    func answer(_ text: SecretText) throws(HelperFailure) {
        guard StandardStream.output.release(text.joined().bytes) else { throw .unwritten }
    }

    func answer(_ text: String) throws(HelperFailure) {
        guard StandardStream.output.write(text) else { throw .unwritten }
    }

    /// A line on standard error, for people.
    func complain(_ sentence: String) {
        StandardStream.error.write("\(name): \(PlainText.line(sentence))\n")
    }

    func showUsage(_ usage: String, to stream: StandardStream = .error) {
        stream.write(usage)
    }
}

extension JSONReader.Bounds {
    /// What tools say, and what the helpers keep of it.
    static let request = Self(deepest: 32, mostValues: 4096)
}

extension JSONValue {
    /// An object that a tool said.
    init(request: HeldSecret) throws(HelperFailure) {
        do throws(JSONReader.Malformed) {
            self = try JSONReader.value(of: request, .request)
        } catch {
            throw .badInput("the request is no JSON (at byte \(error.place))")
        }
        guard case .object = content else { throw .badInput("the request is no JSON object") }
    }
}
