// SPDX-License-Identifier: Apache-2.0
internal import KeychainMessages
internal import MessageBus

/// What is called, and what is answered.
extension Bridge {
    func hear(call message: BusMessage) {
        do throws(ServiceError) { try take(message) } catch {
            // The library frees what it has received as it is: a secret that was not read goes first.
            message.wipeBytes()
            refuse(message, error)
        }
    }

    private func take(_ message: BusMessage) throws(ServiceError) {
        guard let sender = message.sender, let path = message.path else { throw .accessDenied }
        guard let object = ObjectPath(path) else { throw ObjectPath.refusal(of: path) }
        // Before a secret is copied.
        guard calls.count < Limits.calls, let peer = peer(sender), hasRoom(for: message, of: peer)
        else { throw .limitsExceeded }
        let request = try ServiceRequest(message, to: object)
        // Descriptors are this process's until the call has its answer.
        guard message.attached == request.attached else {
            throw .invalidArguments("The call brings other descriptors than it takes")
        }
        peer.waiting.append(admit(message, from: peer, to: object, request))
        proceed(peer)
    }

    /// One program leaves room for all others, and those that are not known yet count as one program.
    private func hasRoom(for message: BusMessage, of peer: Peer) -> Bool {
        let ofProgram = calls.values.filter { $0.peer.isLike(peer) }
        func bytes(_ calls: some Sequence<Call>) -> Int {
            calls.reduce(message.bytesOfCall) { $0 + $1.message.bytesOfCall }
        }
        return peer.callsUnderWay < peer.mostCalls && ofProgram.count < Limits.callsOfGroup
            && bytes(calls.values) <= Limits.bytesUnderWay
            && bytes(ofProgram) <= Limits.bytesOfGroup
    }

    /// Begins the peer's next call, where none is being done.
    func proceed(_ peer: Peer) {
        guard case .known(let introduced) = peer.state else { return }
        while peer.current == nil, !peer.waiting.isEmpty {
            begin(peer.waiting.removeFirst(), as: introduced)
        }
    }

    private func begin(_ call: Call, as introduced: IntroducedPeer) {
        // One that is overdue has its answer.
        guard calls[call.number] != nil else { return }
        do throws(ServiceError) {
            if case .retrieveSecret(let asked) = call.request {
                return try retrieve(asked, for: call, as: introduced)
            }
            if let outcome = try answerHere(call) { return answer(call, .success(outcome)) }
            guard mayBegin(call) else { throw .limitsExceeded }
        } catch { return answer(call, .failure(error)) }
        call.peer.current = call.number
        call.moment = lastNumber
        let work = work(for: call, as: introduced)
        if let request = work.begun() {
            begun[call.number] = request
        } else {
            quick.submit(run(work, of: call.number, asking: false))
        }
    }

    /// The answer to such a request begins to come.
    func go(on request: BegunCall, of number: UInt64) {
        begun[number] = nil
        let work = request.work
        // A long answer is read elsewhere.
        guard request.isWhole() else {
            return quick.submit(
                run(work, of: number, asking: false) { () throws(ServiceError) in
                    if let outcome = try request.outcome() { return outcome }
                    return try work.outcome(asking: false)
                })
        }
        do throws(ServiceError) {
            if let outcome = try request.outcome() {
                return finish(number, work, .success(outcome), asked: false)
            }
        } catch { return finish(number, work, .failure(error), asked: false) }
        quick.submit(run(work, of: number, asking: false))
    }

    private func mayBegin(_ call: Call) -> Bool {
        switch call.request {
        case .openSession:
            let sameGroup = peers.values.filter { $0.group == call.peer.group }
            return call.peer.sessions.count < Limits.sessionsOfPeer
                && peers.values.reduce(0) { $0 + $1.sessions.count } < Limits.sessions
                && sameGroup.reduce(0) { $0 + $1.sessions.count } < Limits.sessionsOfGroup
        case .lock: return call.peer.mayLock(now: .now)
        default: return true
        }
    }

    private func work(for call: Call, as introduced: IntroducedPeer) -> CallWork {
        let session = call.request.session.flatMap { path -> TransferSession? in
            guard case .session(let name) = ObjectPath(path) else { return nil }
            return call.peer.sessions[name]
        }
        return CallWork(
            scope: scope(of: call.peer, as: introduced, session?.transfer, call.cancellation),
            object: call.object, request: call.request, session: session)
    }

    func scope(
        of peer: Peer, as introduced: IntroducedPeer, _ transfer: Transfer?,
        _ cancellation: Cancellation, over window: XWindow? = nil
    ) -> Scope {
        Scope(
            keychains: keychains, peer: introduced, memory: memory, exchange: exchange,
            transfer: transfer, window: window, context: peer.context, cancellation: cancellation,
            standIns: peer.standIns)
    }

    private func run(
        _ work: CallWork, of number: UInt64, asking: Bool
    ) -> @Sendable () -> Void {
        run(work, of: number, asking: asking) { () throws(ServiceError) in
            try work.outcome(asking: asking)
        }
    }

    private func run(
        _ work: CallWork, of number: UInt64, asking: Bool,
        _ outcome: @escaping @Sendable () throws(ServiceError) -> Outcome
    ) -> @Sendable () -> Void {
        let inbox = inbox
        return {
            let result: Result<Outcome, ServiceError>
            do throws(ServiceError) { result = .success(try outcome()) } catch {
                result = .failure(error)
            }
            inbox.post { $0.finish(number, work, result, asked: asking) }
        }
    }

    private func finish(
        _ number: UInt64, _ work: CallWork, _ result: Result<Outcome, ServiceError>, asked: Bool
    ) {
        if asked { questions.end(work.scope.peer.group) }
        guard let call = calls[number] else {
            // The client has gone, or its patience has ended; what was done is told to others.
            guard case .success(let outcome) = result else { return }
            return tell(outcome.effects)
        }
        guard !asked else { return answer(call, result.ofAsked(call.request)) }
        call.peer.current = nil
        if keychains.mayAsk, call.request.mayAsk, case .failure(.isLocked) = result {
            call.isAsking = true
            questions.ask(
                of: work.scope.peer.group, number, run(work, of: number, asking: true))
        } else {
            answer(call, result.refusing(call.request))
        }
        proceed(call.peer)
    }

    // MARK: Answers

    func answer(_ call: Call, _ result: Result<Outcome, ServiceError>) {
        guard end(call) else { return }
        switch result {
        case .failure(let error): refuse(call.message, error)
        case .success(let outcome):
            do throws(ServiceError) { try keep(outcome.effects, of: call) } catch {
                return refuse(call.message, error)
            }
            reply(call.message, outcome.values)
            tell(outcome.effects)
            // What changed while it was read is in another list.
            tellItems(to: call.peer)
        }
    }

    /// What the client has from now on.
    private func keep(_ effects: [Effect], of call: Call) throws(ServiceError) {
        let peer = call.peer
        for effect in effects {
            switch effect {
            case .opened(let session):
                peer.sessions[session.name] = session
                if session.transfer == .encrypted { prepareExchange() }
            case .offered(let task): try offer(task, to: peer)
            case .showed(let place, let items):
                peer.watched.insert(place)
                if let items { peer.show(items, in: place, asOf: call.moment) }
            case .listed(let items, let place): peer.list(items, in: place)
            case .stood(let item, let standIn): peer.show(item, standIn)
            case .item, .collection: continue
            }
        }
    }

    func overdue(_ call: Call) {
        // The portal waits as long as its user does.
        guard retrieving[call.number] == nil else { return }
        call.peer.waiting.removeAll { $0 === call }
        // A question that stands goes on: its answer serves the next try.
        questions.drop(call.number)
        answer(call, .failure(call.isAsking ? call.request.unanswered : .failed))
        // The bus or the keychain never said who it is: its next call asks them again.
        if case .unknown = call.peer.state, call.peer.callsUnderWay == 0 {
            return letGo(call.peer)
        }
        guard call.peer.current == call.number else { return }
        call.peer.current = nil
        proceed(call.peer)
    }

    func reply(_ message: BusMessage, _ values: [BusValue]) {
        guard message.expectsReply else { return }
        guard let reply = message.reply(), values.allSatisfy(reply.append) else {
            return refuse(message, .failed)
        }
        bus.send(reply)
    }

    func refuse(_ message: BusMessage, _ error: ServiceError) {
        guard message.expectsReply, let refusal = message.refusal(error.name, error.text) else {
            return
        }
        bus.send(refusal)
    }
}

extension Result where Success == Outcome, Failure == ServiceError {
    /// Of a call that has no word for what is locked.
    fileprivate func refusing(_ request: ServiceRequest) -> Self {
        guard case .setAlias = request, case .failure(.isLocked) = self else { return self }
        return .failure(.accessDenied)
    }

    /// A program whose questions are used up hears what it would hear with no user there.
    fileprivate func ofAsked(_ request: ServiceRequest) -> Self {
        guard case .failure(.tooManyQuestions) = self else { return refusing(request) }
        return .failure(request.unanswered)
    }
}

extension BusMessage {
    /// With what is copied out of it.
    fileprivate var bytesOfCall: Int { 2 * wholeBytes }
}

extension Peer {
    fileprivate var mostCalls: Int {
        if case .known = state { Limits.callsOfPeer } else { Limits.callsOfStranger }
    }
}
