// SPDX-License-Identifier: Apache-2.0
// keychain-calls random SEED STEPS | threads | processes
// What the tests do in embedded mode, as a program on the keychain that its environment chooses.
// Ends with 0 where nothing went wrong, and says what did.
import Foundation
import KeychainWorlds
import Security

do {
    let words = CommandLine.arguments
    switch (words.dropFirst().first, words.count) {
    case ("random", 4):
        var calls = RandomCalls(
            seed: UInt64(words[2]) ?? 0, groups: [try ownGroup()], changesProtection: false)
        calls.run(steps: Int(words[3]) ?? 0)
        calls.differences.forEach { print($0) }
        exit(calls.differences.isEmpty ? 0 : 1)
    case ("threads", 2): try await Crowd(service: UUID().uuidString).runThreads()
    case ("processes", 2): try processes()
    case ("worker", 3):
        let crowd = Crowd(service: words[2])
        try crowd.report(crowd.work(as: "process \(getpid())"))
    default:
        print("usage: keychain-calls random SEED STEPS | threads | processes")
        exit(2)
    }
} catch {
    print(error)
    exit(1)
}

/// The access group that new items of this program get.
func ownGroup() throws -> String {
    let item: [String: Any] = [
        kSecClass as String: kSecClassGenericPassword,
        kSecAttrService as String: UUID().uuidString, kSecReturnAttributes as String: true,
    ]
    var result: CFTypeRef?
    let status = SecItemAdd(item as CFDictionary, &result)
    guard let group = (result as? [String: Any])?[kSecAttrAccessGroup as String] as? String else {
        throw Unexpected(what: "an item's group", status: status)
    }
    return group
}

struct Unexpected: Error {
    let what: String
    let status: OSStatus
}

func processes() throws {
    let service = UUID().uuidString
    let crowd = Crowd(service: service)
    try crowd.prepare()
    let program = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
    let workers = try (0..<Crowd.workers).map { _ in
        try Process.run(URL(filePath: program), arguments: ["worker", service])
    }
    for worker in workers {
        worker.waitUntilExit()
        guard worker.terminationStatus == 0 else {
            throw Unexpected(what: "a worker's end", status: worker.terminationStatus)
        }
    }
    try crowd.check(crowd.reports())
}
