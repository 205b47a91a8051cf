// SPDX-License-Identifier: Apache-2.0
// keychain-attributed-times FOLDER COUNT...
// What the Secret Service's calls cost in keychains of so many items, all with one pair in common: one
// JSON object for each count, with the middle of many times in microseconds. For Benchmarks/run.
import Foundation
import KeychainEmbedded
import KeychainMessages
import KeychainModel
import KeychainSecrets

/// A new keychain with this many items.
struct Filled {
    private let keychain: EmbeddedKeychain
    private let count: Int

    init(_ folder: String, count: Int) throws {
        keychain = try EmbeddedKeychain(home: folder + "/\(count)", groups: ["own"])
        self.count = count
        for number in 0..<count { try add(number) }
    }

    @discardableResult
    func add(_ number: Int, replacing: Bool = false) throws -> Item {
        var item = NewItem(.attributed)
        item.attributes = [
            .pair("application"): .string("benchmark"), .pair("number"): .string("\(number)"),
            .schema: .string("org.example.Benchmark"), .label: .string("item \(number)"),
        ]
        item.trusted = []
        item.whenSame = replacing ? .replace : .add
        let secret = HeldSecret(SecretBytes(copying: Array("secret \(number)".utf8)))
        return try keychain.send(Add(item, secret: secret, returning: .reference))
    }

    func find(_ number: Int) throws -> ItemReference {
        let search = FindAttributed(
            keychain: nil,
            pairs: [
                .pair("application"): .string("benchmark"), .pair("number"): .string("\(number)"),
            ])
        guard let found = try keychain.send(search).first?.reference else {
            throw RequestError.state(.notFound)
        }
        return found
    }

    func read(_ number: Int) throws {
        var query = ItemQuery(.attributed)
        query.references = [try find(number)]
        query.returnFields = .data
        query.authenticationUI = .fail
        guard try keychain.send(CopyMatching(query)).first?.secret != nil else {
            throw RequestError.state(.notFound)
        }
    }

    /// The median of this many times, in microseconds, after a tenth as many runs that don't count.
    func middle(of turns: Int, _ body: (Int) throws -> Void) rethrows -> Double {
        var times: [Double] = []
        for turn in 0..<turns + turns / 10 {
            // The numbers are far apart, and the same in each run.
            let number = (turn &* 7919) % count
            let began = ContinuousClock.now
            try body(number)
            let took = (ContinuousClock.now - began).components
            if turn >= turns / 10 { times.append(Double(took.attoseconds) / 1e12) }
        }
        return times.sorted()[times.count / 2]
    }

    func report() throws {
        var next = count
        let figures: [String: Double] = [
            "items": Double(count),
            "search": try middle(of: 1000) { _ = try find($0) },
            "search and read": try middle(of: 1000) { try read($0) },
            "replace": try middle(of: 300) { _ = try add($0, replacing: true) },
            "add": try middle(of: 300) { _ in
                next += 1
                try add(next)
            },
        ]
        let line = try JSONSerialization.data(withJSONObject: figures, options: .sortedKeys)
        print(String(decoding: line, as: UTF8.self))
    }
}

do {
    let words = CommandLine.arguments.dropFirst()
    let counts = words.dropFirst().compactMap { Int($0) }
    guard let folder = words.first, !counts.isEmpty, counts.allSatisfy({ $0 > 0 }) else {
        print("usage: keychain-attributed-times FOLDER COUNT...")
        exit(2)
    }
    for count in counts { try Filled(folder, count: count).report() }
} catch {
    print(error)
    exit(1)
}
