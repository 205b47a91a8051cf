// SPDX-License-Identifier: Apache-2.0
import Foundation
import Keychain
import Testing

/// Eight threads and eight processes at once, on one keychain of this run.
@Suite struct KeychainConcurrency {
    private static let workers = 8

    @Test func `threads lose nothing and never see half of a write`() async throws {
        let service = freshService()
        let crowd = Crowd(service: service)
        try crowd.prepare()
        let tallies = try await withThrowingTaskGroup(of: Crowd.Tally.self) { group in
            for worker in 0..<Self.workers {
                group.addTask { try await onThread { try crowd.work(as: "thread \(worker)") } }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        try crowd.check(tallies, workers: Self.workers)
    }

    @Test func `processes lose nothing and never see half of a write`() async throws {
        let service = freshService()
        let crowd = Crowd(service: service)
        try crowd.prepare()
        setenv(Crowd.variable, service, 1)
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<Self.workers {
                group.addTask {
                    await #expect(processExitsWith: .success) {
                        let service = try #require(
                            ProcessInfo.processInfo.environment[Crowd.variable])
                        let crowd = Crowd(service: service)
                        try crowd.report(crowd.work(as: "process \(getpid())"))
                    }
                }
            }
        }
        try crowd.check(crowd.reports(), workers: Self.workers)
    }
}

/// What each of the crowd does with items of one service, and how it must look in the end.
private struct Crowd: Sendable {
    static let variable = "KEYCHAIN_TEST_CROWD"
    private static let own = 6
    private static let kept = 4
    private static let rounds = 12

    let service: String
    private var shared: String { service + " shared" }
    private var contested: String { service + " contested" }
    private var tallies: String { service + " tallies" }

    /// How often this worker added and deleted the item that all of them want.
    struct Tally { var added = 0, deleted = 0 }

    struct Broken: Error { let what: String, status: OSStatus }

    func prepare() throws {
        try expect(errSecSuccess, "prepare", add(written(0)))
    }

    func work(as name: String) throws -> Tally {
        var tally = Tally()
        for number in 0..<Self.own { try own("\(name), \(number)", isKept: number < Self.kept) }
        for round in 0..<Self.rounds {
            try share(round)
            contest(&tally)
        }
        return tally
    }

    /// Nobody else's: added, read, updated, read again, and some of them deleted.
    private func own(_ account: String, isKept: Bool) throws {
        try expect(errSecSuccess, "add", add(password(service, account: account)))
        let item = query(service).with([kSecAttrAccount as String: account])
        try expect(
            errSecSuccess, "update", update(item, [kSecValueData as String: Data(account.utf8)]))
        let read = copyMatching(item.with([kSecReturnData as String: true]))
        try expect(errSecSuccess, "read", read.status)
        guard read.result as? Data == Data(account.utf8) else {
            throw Broken(what: "a lost update", status: read.status)
        }
        if !isKept { try expect(errSecSuccess, "delete", delete(item)) }
    }

    /// Everybody's: its comment and its secret are always written together.
    private func share(_ round: Int) throws {
        let number = Int.random(in: 0..<1000)
        var changes = written(number)
        for key in [kSecClass, kSecAttrService] { changes[key as String] = nil }
        try expect(errSecSuccess, "update together", update(query(shared), changes))
        let read = copyMatching(
            query(shared).with([
                kSecReturnAttributes as String: true, kSecReturnData as String: true,
            ]))
        try expect(errSecSuccess, "read together", read.status)
        let item = read.result as? [String: Any]
        guard let comment = item?[kSecAttrComment as String] as? String,
            let data = item?[kSecValueData as String] as? Data, let number = Int(comment),
            data == Self.secret(number)
        else { throw Broken(what: "half of a write", status: read.status) }
    }

    private func contest(_ tally: inout Tally) {
        if add(password(contested)) == errSecSuccess { tally.added += 1 }
        if delete(query(contested)) == errSecSuccess { tally.deleted += 1 }
    }

    func check(_ tallies: [Tally], workers: Int) throws {
        #expect(tallies.count == workers)
        let own = try accounts(of: service)
        #expect(own.count == workers * Self.kept)
        for account in own {
            let item = query(service).with([
                kSecAttrAccount as String: account, kSecReturnData as String: true,
            ])
            #expect(copyMatching(item).result as? Data == Data(account.utf8))
        }
        let left = copyMatching(query(contested)).status == errSecSuccess ? 1 : 0
        let added = tallies.reduce(0) { $0 + $1.added }
        #expect(added > 0)
        #expect(added - tallies.reduce(0) { $0 + $1.deleted } == left)
    }

    // MARK: What the processes tell the test

    func report(_ tally: Tally) throws {
        let account = "\(getpid()) \(tally.added) \(tally.deleted)"
        try expect(errSecSuccess, "report", add(password(tallies, account: account)))
    }

    func reports() throws -> [Tally] {
        try accounts(of: tallies).map { account in
            let numbers = account.split(separator: " ").compactMap { Int($0) }
            return Tally(added: numbers[1], deleted: numbers[2])
        }
    }

    private func accounts(of service: String) throws -> [String] {
        let found = copyMatching(
            query(service).with([
                kSecMatchLimit as String: kSecMatchLimitAll, kSecReturnAttributes as String: true,
            ]))
        try expect(errSecSuccess, "list", found.status)
        let items = found.result as? [[String: Any]] ?? []
        return items.compactMap { $0[kSecAttrAccount as String] as? String }
    }

    private func written(_ number: Int) -> [String: Any] {
        query(shared).with([
            kSecAttrComment as String: String(number), kSecValueData as String: Self.secret(number),
        ])
    }

    private static func secret(_ number: Int) -> Data {
        Data(String(repeating: "\(number) ", count: 200 + number).utf8)
    }

    private func expect(_ expected: OSStatus, _ what: String, _ status: OSStatus) throws {
        guard status == expected else { throw Broken(what: what, status: status) }
    }
}

/// Off Swift's own threads, of which there may be fewer than eight.
private func onThread<R: Sendable>(
    _ body: @escaping @Sendable () throws -> R
) async throws -> R {
    try await withCheckedThrowingContinuation { continuation in
        Thread.detachNewThread { continuation.resume(with: Result(catching: body)) }
    }
}
