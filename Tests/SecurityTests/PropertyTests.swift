// SPDX-License-Identifier: Apache-2.0
import KeychainWorlds
import Testing

extension CertificateItems {
    /// The same runs against a daemon in Tests/System/test_items.py.
    @Suite(.serialized) struct Properties {
        @Test(arguments: [1, 2, 3, 4] as [UInt64])
        func `calls do what they do on a plain model`(_ seed: UInt64) {
            var calls = RandomCalls(seed: seed, groups: ["model.group", "model.other"])
            calls.run(steps: 500)
            #expect(calls.differences == [])
        }
    }
}
