// SPDX-License-Identifier: Apache-2.0
package import KeychainMessages
package import KeychainModel
internal import KeychainSecrets
internal import SecretJSON
internal import Terminal

/// The resources of one run of a helper: the keychain, and the tool at the other end of its
/// standard streams.
package final class HelperSession {
    package typealias Endpoint = () -> Result<any KeychainEndpoint, RequestError>

    /// The most bytes of a tool's input. Only tokens of single sign-on are long.
    static let longestRequest = 1024 * 1024

    let items: CredentialItems
    private let name: String

    package init(_ name: String, asking open: @escaping Endpoint) {
        self.name = name
        items = CredentialItems(asking: open)
    }

    /// The tool's whole input.
    func request() throws(HelperFailure) -> HeldSecret {
        do throws(TerminalError) {
            return HeldSecret(try StandardInput.read(limit: Self.longestRequest))
        } catch { throw HelperFailure(error) }
    }

    /// The tool's next line; nil at the end of the input.
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

    /// Writes a line for people to standard error.
    func complain(_ sentence: String) {
        StandardStream.error.write("\(name): \(PlainText.line(sentence))\n")
    }

    func showUsage(_ usage: String, to stream: StandardStream = .error) {
        stream.write(usage)
    }
}

extension SecretJSONReader.Bounds {
    /// The limits of JSON from tools, and of the helpers' stored JSON.
    static let request = Self(deepest: 32, mostValues: 4096)
}

extension SecretJSONValue {
    /// Reads an object from a tool.
    init(request: HeldSecret) throws(HelperFailure) {
        do throws(SecretJSONReader.Malformed) {
            self = try SecretJSONReader.value(of: request, .request)
        } catch {
            throw .badInput("the request is no JSON (at byte \(error.place))")
        }
        guard case .object = content else { throw .badInput("the request is no JSON object") }
    }
}
