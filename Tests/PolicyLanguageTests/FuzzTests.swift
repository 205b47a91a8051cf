// SPDX-License-Identifier: Apache-2.0
import PolicyLanguage
import PolicySyntax
import PolicyTools
import Testing

/// Broken policies are told, never a crash: a trap here would end the test run.
struct FuzzTests {
    private static let seeds =
        (formMistakes + fieldMistakes + ruleMistakes + meaningMistakes + testMistakes).map(\.yaml)
    private static let pieces: [[UInt8]] = [
        "[", "]", "{", "}", ": ", "- ", "\n", " ", "'", "\"", "|", ">", "#", "&a", "*a", "!x", "? ",
        "---\n", "...\n", "\\", "**", ",", "99999999999999999999", "unknown!", "\u{FEFF}", "é",
        "|2\n", "\r\n", "%", "k: 9, of: []", "0d", "23:59-", "-1",
    ].map { Array($0.utf8) }

    @Test(arguments: 0..<8)
    func `no bytes make the reader or the formatter trap`(_ seed: Int) {
        var random = Noise(state: UInt64(seed) &* 0x9E37_79B9 &+ 1)
        for round in 0..<400 {
            var bytes = Array(Self.seeds[(seed * 400 + round) % Self.seeds.count].utf8)
            for _ in 0...random.next(6) { mutate(&bytes, &random) }
            let source = SourceFile(path: "p.yaml", bytes: bytes)
            let loaded = LoadedPolicies([[source]], today: testDay)
            #expect(loaded.diagnostics.map(\.text).joined().utf8.count < 200_000)
            if !loaded.hasErrors { _ = PolicyTestRun(loaded) }
            guard let once = try? PolicyFormatter.format(source) else { continue }
            let again = try? PolicyFormatter.format(SourceFile(path: "p.yaml", bytes: once))
            #expect(again == once, "\(String(decoding: bytes, as: UTF8.self))")
        }
    }

    private func mutate(_ bytes: inout [UInt8], _ random: inout Noise) {
        guard !bytes.isEmpty else { return }
        let place = random.next(bytes.count)
        switch random.next(5) {
        case 0: bytes[place] = UInt8(random.next(256))
        case 1: bytes.remove(at: place)
        case 2: bytes.insert(contentsOf: Self.pieces[random.next(Self.pieces.count)], at: place)
        case 3: bytes.removeSubrange(place..<min(bytes.count, place + random.next(20)))
        default:
            let end = min(bytes.count, place + random.next(40))
            bytes.insert(contentsOf: bytes[place..<end], at: random.next(bytes.count))
        }
    }
}

/// The same numbers in each run.
struct Noise {
    var state: UInt64

    mutating func next(_ bound: Int) -> Int {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return bound > 0 ? Int((state >> 33) % UInt64(bound)) : 0
    }
}
