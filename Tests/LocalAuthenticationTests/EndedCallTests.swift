// SPDX-License-Identifier: Apache-2.0
import Dispatch
import KeychainEndpoints
import KeychainMessages
import KeychainModel
import LocalAuthentication
import Testing

/// A keychain whose user never answers: a request ends only when it is cancelled.
private final class SilentEndpoint: KeychainEndpoint {
    let asks = DispatchSemaphore(value: 0)

    func send<V: Verb>(
        _ verb: V, in context: AuthenticationContext?, cancellation: Cancellation?
    ) throws(RequestError) -> V.Answer {
        let isOver = DispatchSemaphore(value: 0)
        try cancellation?.whileWaiting({ isOver.signal() }) { () throws(RequestError) in
            asks.signal()
            isOver.wait()
        }
        throw .failed(.notAvailable)
    }
}

@Suite struct EndedCallTests {
    @Test func `an item call that asks its user ends with its context`() throws {
        let context = LAContext()
        let call = try CallContext(context)
        let endpoint = SilentEndpoint()
        DispatchQueue.global().async {
            endpoint.asks.wait()
            context.invalidate()
        }
        #expect(throws: RequestError.refused(.authenticationFailed)) {
            try endpoint.send(ReadCapabilities(), in: call)
        }
    }

    @Test func `a call does not begin in a context that has ended`() throws {
        let context = LAContext()
        let call = try CallContext(context)
        context.invalidate()
        #expect(throws: RequestError.refused(.authenticationFailed)) {
            try SilentEndpoint().send(ReadCapabilities(), in: call)
        }
        #expect(throws: RequestError.refused(.authenticationFailed)) {
            _ = try CallContext(context)
        }
    }
}
