// SPDX-License-Identifier: Apache-2.0
package import AccountDatabase
internal import Dispatch
internal import KeychainLinuxSystem
package import KeychainLocalSocket
internal import LoginHandoff
internal import Synchronization
internal import WorkerHandoff

/// Accepts the connections of programs, of the PAM module and of screen lockers, and passes each to
/// the worker of its user. It reads of a connection who is at the other end, and of the PAM module's
/// also which user it is about. A question for a worker's number it answers itself.
package final class Dispatcher: Sendable {
    /// The most connections at once that wait for the account directory, whose peer has no account, or
    /// that ask for a number; and the most logins that have not named their user yet.
    private static let mostWaiting = 32
    private static let mostLogins = 64
    private static let stackBytes = 256 * 1024

    private let requests: Listener
    private let logins: Listener
    private let offers: Listener
    private let accounts: AccountNames
    private let workers: Workers
    private let unknown = BoundedThreads(most: mostWaiting, stackBytes: stackBytes)
    private let strangers = BoundedThreads(most: mostWaiting, stackBytes: stackBytes)
    private let arriving = BoundedThreads(most: mostLogins, stackBytes: stackBytes)
    private let asking = BoundedThreads(most: mostWaiting, stackBytes: stackBytes)

    package init(
        requests: Listener, logins: Listener, offers: Listener, accounts: AccountNames,
        workers: Workers
    ) {
        self.requests = requests
        self.logins = logins
        self.offers = offers
        self.accounts = accounts
        self.workers = workers
    }

    /// Returns after `shutDown`; returns false at once where the machine has no room for a thread.
    package func run() -> Bool {
        let serving = DispatchGroup()
        for (listener, socket) in [
            (requests, ConnectedSocket.requests), (logins, .logins), (offers, .offers),
        ] {
            serving.enter()
            let hasBegun = DetachedThread.start { [self] in
                accept(listener, socket)
                serving.leave()
            }
            guard hasBegun else { return false }
        }
        serving.wait()
        return true
    }

    package func shutDown() {
        for listener in [requests, logins, offers] { listener.shutDown() }
    }

    /// This thread waits for nothing but connections.
    private func accept(_ listener: Listener, _ socket: ConnectedSocket) {
        while true {
            let accepted: PassedSocket
            do { accepted = try listener.acceptToPass() } catch {
                if error == .closed { return }
                continue
            }
            guard let peer = try? PeerCredentials(of: accepted.descriptor) else { continue }
            if socket != .logins {
                dispatch(accepted, socket, peer)
            } else if peer.user == 0 {
                let hasRoom = arriving.run { [self] in
                    // Root's worker refuses what names no user.
                    let (user, asksNumber) =
                        LoginConnection.beginning(in: accepted.descriptor) ?? (0, false)
                    if !asksNumber {
                        let about = PeerCredentials(pid: peer.pid, user: user, group: peer.group)
                        return dispatch(accepted, socket, about)
                    }
                    // Apart: it may wait for the account directory, for which no login waits.
                    let hasRoom = asking.run { [self] in tellNumber(of: user, accepted) }
                    if !hasRoom { accepted.refuse() }
                }
                if !hasRoom { accepted.refuse() }
            }
        }
    }

    /// The PAM module asks before it makes a ticket.
    private func tellNumber(of user: UInt32, _ accepted: PassedSocket) {
        guard let connection = try? LoginConnection(accepted.descriptor),
            case .number(user)? = try? connection.receive()
        else { return accepted.refuse() }
        let isThere = accounts.isKnown(user) || accounts.has(user)
        let number = isThere ? workers.number(of: user) : nil
        try? connection.reply(number.map { .number($0) } ?? .refused(.notAllowed))
    }

    /// `peer` has the user that the connection is about.
    private func dispatch(
        _ accepted: PassedSocket, _ socket: ConnectedSocket, _ peer: PeerCredentials
    ) {
        if accounts.isKnown(peer.user) { return pass(accepted, socket, peer) }
        if accounts.isKnownAbsent(peer.user) { return refuse(accepted, socket) }
        let hasRoom = unknown.run { [self] in
            if accounts.has(peer.user) {
                pass(accepted, socket, peer)
            } else {
                refuse(accepted, socket)
            }
        }
        if !hasRoom { accepted.refuse() }
    }

    private func refuse(_ accepted: PassedSocket, _ socket: ConnectedSocket) {
        let hasRoom = strangers.run {
            Stranger.refuse(accepted.descriptor, socket)
            accepted.refuse()
        }
        if !hasRoom { accepted.refuse() }
    }

    private func pass(
        _ accepted: PassedSocket, _ socket: ConnectedSocket, _ peer: PeerCredentials
    ) {
        var orders: [Handover] = []
        if socket == .requests, peer.user != 0,
            MachinePrograms.mayBe(peer.pid, accepted.descriptor),
            let (own, other) = try? SocketPair.ofStreams()
        {
            let ofMachine = [
                Handover(.machineEnd, passing: other),
                Handover(.machineConnection, passing: accepted.descriptor),
            ]
            workers.pass(PassedConnection(socket: nil, orders: ofMachine), to: 0)
            orders.append(Handover(.machine, passing: own))
        }
        let connection = WorkerOrder.connection(socket, hasMachine: !orders.isEmpty)
        orders.append(Handover(connection, passing: accepted.descriptor))
        let isLogin = socket == .logins
        workers.pass(
            PassedConnection(socket: accepted, orders: orders, isLogin: isLogin), to: peer.user)
    }
}

/// Threads of which a bounded number runs; what comes beyond is dropped.
private final class BoundedThreads: Sendable {
    private let most: Int
    private let stackBytes: Int
    private let running = Mutex(0)

    init(most: Int, stackBytes: Int) {
        self.most = most
        self.stackBytes = stackBytes
    }

    /// Returns false where there is no room for it.
    func run(_ body: @escaping @Sendable () -> Void) -> Bool {
        let mayBegin = running.withLock { running in
            guard running < most else { return false }
            running += 1
            return true
        }
        guard mayBegin else { return false }
        let hasBegun = DetachedThread.start(stackBytes: stackBytes) { [self] in
            body()
            running.withLock { $0 -= 1 }
        }
        if !hasBegun { running.withLock { $0 -= 1 } }
        return hasBegun
    }
}
