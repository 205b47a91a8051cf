// SPDX-License-Identifier: Apache-2.0
package import KeychainMessages
package import KeychainModel

/// An object that programs pass as `kSecUseAuthenticationContext`: `LAContext`, which `Security`
/// can't import, as it is the lower module.
package protocol AuthenticationContextCarrier: AnyObject {
    /// The context for a request; nil once it has ended.
    var authentication: AuthenticationContext? { get }
    /// From now until `leave` the end of the context cancels the request. Returns false where the
    /// context has ended.
    func enter(_ cancellation: Cancellation) -> Bool
    func leave(_ cancellation: Cancellation)
}

/// The context in which one call makes its requests: its program's, or the call's own.
package struct CallContext {
    private let carrier: (any AuthenticationContextCarrier)?
    private let authentication: AuthenticationContext

    /// For a call of several requests: a proof for one of them counts for the others. It is not
    /// ended, as that would forget proofs that policies let count for longer.
    package init() {
        carrier = nil
        authentication = AuthenticationContext()
    }

    /// An ended context has no proofs, and can't get any.
    package init(_ carrier: any AuthenticationContextCarrier) throws(RequestError) {
        guard let authentication = carrier.authentication else {
            throw .refused(.authenticationFailed)
        }
        self.carrier = carrier
        self.authentication = authentication
    }

    fileprivate func send<V: Verb>(
        _ verb: V, to endpoint: any KeychainEndpoint
    ) throws(RequestError) -> V.Answer {
        guard let carrier else { return try endpoint.send(verb, in: authentication) }
        let cancellation = Cancellation()
        guard carrier.enter(cancellation) else { throw .refused(.authenticationFailed) }
        defer { carrier.leave(cancellation) }
        do throws(RequestError) {
            return try endpoint.send(verb, in: authentication, endedBy: cancellation)
        } catch {
            guard cancellation.isCancelled else { throw error }
            throw .refused(.authenticationFailed)
        }
    }
}

extension KeychainEndpoint {
    /// Where the context ends meanwhile, the request ends too, and fails.
    package func send<V: Verb>(
        _ verb: V, in context: CallContext?
    ) throws(RequestError) -> V.Answer {
        guard let context else { return try send(verb) }
        return try context.send(verb, to: self)
    }
}
