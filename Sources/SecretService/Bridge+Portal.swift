// SPDX-License-Identifier: Apache-2.0
internal import KeychainLinuxSystem
internal import KeychainMessages
internal import KeychainModel
internal import KeychainSecrets
internal import MessageBus

/// Secrets of applications, for which the desktop's portal asks.
extension Bridge {
    /// Takes as long as the user takes: the program's other calls don't wait for it.
    func retrieve(
        _ asked: PortalRequest, for call: Call, as portal: IntroducedPeer
    ) throws(ServiceError) {
        guard call.peer.mayBePortal, call.peer.name == bus.descriptorSender else {
            throw .accessDenied
        }
        // Too many of the portal's are open.
        guard let output = asked.output else { throw .limitsExceeded }
        let ofApplication = retrieving.values.count { $0.application == asked.application }
        guard retrieving.count < Limits.portalRequests,
            ofApplication < Limits.portalRequestsOfApplication
        else { throw .limitsExceeded }
        retrieving[call.number] = asked
        let retrieval = PortalRetrieval(
            application: asked.application, output: output, portal: portal,
            keychains: keychains, context: call.peer.context,
            cancellation: call.cancellation)
        let (number, inbox) = (call.number, inbox)
        self.portal.submit {
            let result: Result<PortalResponse, ServiceError>
            do throws(ServiceError) { result = .success(try retrieval.response()) } catch {
                result = .failure(error)
            }
            inbox.post { $0.retrieved(number, result) }
        }
    }

    private func retrieved(_ number: UInt64, _ result: Result<PortalResponse, ServiceError>) {
        retrieving[number] = nil
        guard let call = calls[number] else { return }
        if case .failure(.accessDenied) = result { call.peer.mayBePortal = false }
        answer(call, result.map(\.outcome))
    }

    /// Answers a call to the portal's own object, or to that of a request.
    func answerPortal(_ call: Call) throws(ServiceError) -> Outcome {
        switch call.request {
        case .get: return Outcome(.variant(of: "u", .uint32(PortalRequest.version)))
        case .getAll(let properties):
            return Outcome(
                .properties(
                    properties.map {
                        ($0.rawValue, $0.signature, .uint32(PortalRequest.version))
                    }))
        case .closePortalRequest:
            let asked = calls.values.first {
                $0.peer === call.peer && retrieving[$0.number]?.handle == call.object.description
            }
            guard let asked else { throw .gone }
            asked.cancellation.cancel()
            answer(asked, .success(PortalResponse.cancelled.outcome))
            return Outcome()
        default: return try introspect(call, [])
        }
    }
}

/// How a request of the portal's ended, in the portal's numbers.
enum PortalResponse: UInt32, Sendable {
    case done = 0
    case cancelled = 1
    case failed = 2

    fileprivate var outcome: Outcome { Outcome(.uint32(rawValue), .properties([])) }
}

/// One request of the portal's, as another thread does it.
private struct PortalRetrieval: Sendable {
    let application: PortalApplication
    let output: Descriptor
    let portal: IntroducedPeer
    let keychains: any PeerKeychains
    let context: AuthenticationContext
    let cancellation: Cancellation

    func response() throws(ServiceError) -> PortalResponse {
        let peer: IntroducedPeer
        do throws(RequestError) {
            peer = try keychains.introduce(application, by: portal)
        } catch { throw ServiceError(error) }
        defer { keychains.forget(peer) }
        guard let output = PassedOutput(output) else {
            throw .invalidArguments("The descriptor is no pipe or socket to write to")
        }
        let secret = PortalSecret(
            application: application,
            endpoint: keychains.endpoint(of: peer, transfer: nil, over: nil),
            context: context, cancellation: cancellation)
        do throws(RequestError) {
            let value = try secret.value()
            return cancellation.isCancelled ? .cancelled : write(value, to: output)
        } catch { return error == .refused(.cancelled) ? .cancelled : .failed }
    }

    private func write(_ secret: HeldSecret, to output: PassedOutput) -> PortalResponse {
        do throws(SystemError) {
            try output.write(secret.bytes, until: .now + Limits.portalWrite)
            return .done
        } catch { return .failed }
    }
}
