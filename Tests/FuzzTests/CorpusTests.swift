// SPDX-License-Identifier: Apache-2.0
import Testing

@Suite struct CorpusTests {
    @Test(arguments: FuzzTarget.allCases)
    func `every input that was kept is refused, or means what it is written as`(
        _ target: FuzzTarget
    ) throws {
        let inputs = try FuzzInputs.kept(target)
        #expect(!inputs.isEmpty)
        for input in inputs {
            do { try target.read(input.bytes) } catch { Issue.record("\(input): \(error)") }
        }
    }

    /// Else a fuzzer would only look at how the first bytes are refused.
    @Test(arguments: FuzzTarget.allCases)
    func `what the fuzzers begin with is read`(_ target: FuzzTarget) throws {
        let inputs = try Seeds.inputs(target)
        #expect(!inputs.isEmpty)
        for (number, input) in inputs.enumerated() {
            #expect(try target.read(input), "seed \(number)")
        }
    }
}
