// SPDX-License-Identifier: Apache-2.0
import KeychainModel
import KeychainPolicyModel
import Testing

@Suite struct `Policy requirements` {
    private typealias Tree = PolicyConstraint
    private static let passcode = Tree.factor(.passcode)
    private static let presence = Tree.factor(.presence)
    private static let otp = Tree.pam("keychain-otp", within: nil)

    @Test(arguments: [
        (Tree.all([otp, passcode]), #"{"all":["passcode",{"pam":"keychain-otp"}]}"#),
        (
            .all([.all([passcode, otp]), passcode]), #"{"all":["passcode",{"pam":"keychain-otp"}]}"#
        ),
        (.any([.any([.any([presence])])]), #""presence""#),
        (
            .all([.any([presence, passcode]), .any([passcode, presence])]),
            #"{"any":["passcode","presence"]}"#
        ),
        (
            .atLeast(2, of: [presence, passcode, passcode]),
            #"{"k":2,"of":["passcode","passcode","presence"]}"#
        ),
        (.atLeast(1, of: [.all([presence])]), #"{"k":1,"of":["presence"]}"#),
        (
            .all([.atLeast(1, of: [passcode]), passcode]),
            #"{"all":["passcode",{"k":1,"of":["passcode"]}]}"#
        ),
        (.pam("keychain-otp", within: .minutes(90)), #"{"pam":"keychain-otp","within":"90m"}"#),
    ]) func `have one canonical form`(_ row: (tree: PolicyConstraint, json: String)) {
        #expect(row.tree.canonical.json == row.json)
        #expect(row.tree.canonical.canonical == row.tree.canonical)
    }

    @Test func `say what an item's access control says`() {
        #expect(PolicyItemConstraint(.always) == .none)
        #expect(PolicyItemConstraint(.never) == .never)
        let both = Constraint.atLeast(required: 2, of: [.devicePasscode, .companion])
        #expect(
            PolicyItemConstraint(both)
                == .needs(.all([.factor(.passcode), .factor(.companion)])))
        #expect(PolicyItemConstraint(.atLeast(required: 2, of: [.never, .companion])) == .never)
    }
}
