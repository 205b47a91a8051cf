// SPDX-License-Identifier: Apache-2.0
import Foundation
import Security

/// Concurrent workers on the items of one service, with a check of the final state.
public struct Crowd: Sendable {
    public static let workers = 8
    private static let own = 6
    private static let kept = 4
    private static let rounds = 12

    private let service: String

    public init(service: String) { self.service = service }

    private var shared: String { service + " shared" }
    private var contested: String { service + " contested" }
    private var tallies: String { service + " tallies" }

    /// The number of times that this worker added and deleted the shared item.
    public struct Tally: Sendable { var added = 0, deleted = 0 }

    public struct Broken: Error {
        let what: String
        var status = errSecSuccess
    }

    public func prepare() throws {
        try expect(errSecSuccess, "prepare", add(written(0)))
    }

    public func work(as name: String) throws -> Tally {
        var tally = Tally()
        for number in 0..<Self.own { try own("\(name), \(number)", isKept: number < Self.kept) }
        for round in 0..<Self.rounds {
            try share(round)
            contest(&tally)
        }
        return tally
    }

    /// Works on an item of one worker: added, read, updated, read again, and in some cases deleted.
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

    /// Works on the shared item: its comment and its secret are always written together.
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

    /// Throws where an item is lost, or exists twice.
    public func check(_ tallies: [Tally]) throws {
        try expect(tallies.count == Self.workers, "a worker said nothing")
        let own = try accounts(of: service)
        try expect(own.count == Self.workers * Self.kept, "\(own.count) items were kept")
        for account in own {
            let item = query(service).with([
                kSecAttrAccount as String: account, kSecReturnData as String: true,
            ])
            try expect(
                copyMatching(item).result as? Data == Data(account.utf8), "other data: \(account)")
        }
        let left = copyMatching(query(contested)).status == errSecSuccess ? 1 : 0
        let added = tallies.reduce(0) { $0 + $1.added }
        let deleted = tallies.reduce(0) { $0 + $1.deleted }
        try expect(added > 0 && added - deleted == left, "\(added) - \(deleted) are not \(left)")
    }

    // MARK: What the processes tell the test

    public func report(_ tally: Tally) throws {
        let account = "\(getpid()) \(tally.added) \(tally.deleted)"
        try expect(errSecSuccess, "report", add(password(tallies, account: account)))
    }

    public func reports() throws -> [Tally] {
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

    private func password(_ service: String, account: String = "joe") -> [String: Any] {
        query(service).with([
            kSecAttrAccount as String: account, kSecValueData as String: Data("secret".utf8),
        ])
    }

    private func query(_ service: String) -> [String: Any] {
        [kSecClass as String: kSecClassGenericPassword, kSecAttrService as String: service]
    }

    private func expect(_ isTrue: Bool, _ what: String) throws {
        if !isTrue { throw Broken(what: what) }
    }

    private func expect(_ expected: OSStatus, _ what: String, _ status: OSStatus) throws {
        guard status == expected else { throw Broken(what: what, status: status) }
    }

    /// Runs eight threads, which are not Swift's own, as Swift may have fewer than eight.
    public func runThreads() async throws {
        try prepare()
        let tallies = try await withThrowingTaskGroup(of: Tally.self) { group in
            for worker in 0..<Self.workers {
                group.addTask {
                    try await withCheckedThrowingContinuation { continuation in
                        Thread.detachNewThread {
                            continuation.resume(
                                with: Result { try work(as: "thread \(worker)") })
                        }
                    }
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        try check(tallies)
    }
}
