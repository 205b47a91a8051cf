// SPDX-License-Identifier: Apache-2.0
import KeychainModel
import Testing

@testable import CallerIdentity
@testable import PromptedAuthentication

private func item(_ number: Int) -> ItemReference {
    let bytes = (0..<16).map { UInt8(truncatingIfNeeded: number >> (8 * ($0 % 4))) }
    return ItemReference(itemClass: .genericPassword, identifier: bytes)!
}

private func terminal(_ number: UInt32) -> PrompterPlace {
    .terminal(user: 1, device: number, session: Int32(number))
}

private let desktop = PrompterPlace.display(user: 1, login: "c2")

private func matter(
    user: UInt32 = 1, _ program: String = "exe:/usr/bin/git", _ items: Int...,
    at place: PrompterPlace = terminal(1), _ strength: ProgramStrength? = .rootsFile
) -> PromptRateLimiter.Matter {
    PromptRateLimiter.Matter(
        user: user, program: program, strength: strength, place: place, items: items.map(item))
}

/// A budget, and a clock that goes when it is told to.
private final class Asking {
    let budget = PromptRateLimiter()
    var now = ContinuousClock.now

    func begins(_ matter: PromptRateLimiter.Matter) -> Bool {
        do throws(RequestError) {
            try budget.begin(matter, at: now)
            return true
        } catch { return false }
    }

    func ends(_ matter: PromptRateLimiter.Matter, _ outcome: PromptRateLimiter.Outcome) {
        budget.end(matter, outcome, at: now)
    }

    /// Asks as soon as it may, and says how many seconds that took.
    func ask(_ matter: PromptRateLimiter.Matter, _ outcome: PromptRateLimiter.Outcome) -> Int {
        var waited = 0
        while !begins(matter), waited < 10_000 {
            now += .seconds(1)
            waited += 1
        }
        ends(matter, outcome)
        return waited
    }
}

@Suite struct PromptRateLimiterTests {
    private let asking = Asking()

    /// How many of twenty questions are put.
    private func put(
        _ program: String = "exe:/usr/bin/git", at place: PrompterPlace = terminal(1),
        _ strength: ProgramStrength? = .rootsFile
    ) -> Int {
        (0..<20).count { _ in
            guard asking.begins(matter(program, at: place, strength)) else { return false }
            asking.ends(matter(program, at: place, strength), .undecided)
            return true
        }
    }

    @Test func `ten questions a minute of one program, fourteen of all, for each user`() {
        #expect(put() == 10)
        #expect(put("exe:/usr/bin/other") == 4)
        #expect(put("exe:/usr/bin/third") == 0)
        #expect(asking.begins(matter(user: 2)))
        asking.now += .seconds(61)
        #expect(asking.begins(matter()))
    }

    @Test func `a program that asks without end leaves questions for others`() {
        #expect(put("exe:/home/a/flood", .weak) == 10)
        #expect(asking.ask(matter(), .proven) == 0)
        #expect(put("exe:/home/a/flood", .weak) == 0)
        for _ in 0..<3 { #expect(asking.ask(matter(), .proven) == 0) }
    }

    @Test func `copies of a program that its user can change are one program`() {
        let ofCopies = (0..<20).map { put("exe:/home/a/flood\($0)", .weak) }
        #expect(ofCopies.reduce(0, +) == 10)
        // An interpreter is weak too, and so is a program that could not be identified.
        #expect(put("exe:/usr/bin/python3", .weak) == 0)
        #expect(put("", nil) == 0)
        #expect(put() == 4)
    }

    @Test func `wrong answers cost more and more time, whichever program asks`() {
        let pauses = (0..<9).map { asking.ask(matter("exe:/tmp/\($0)"), .wrong) }
        #expect(pauses == [0, 2, 4, 8, 16, 32, 64, 128, 256])
        #expect(asking.ask(matter("exe:/tmp/a"), .wrong) == 300)
        #expect(asking.ask(matter("exe:/tmp/b"), .wrong) == 300)
    }

    @Test func `questions that are shown at once cost what wrong answers one by one would`() {
        #expect(asking.begins(matter(at: terminal(0))))
        var waited: [Int] = []
        for number in 1..<6 {
            var seconds = 0
            while !asking.begins(matter(at: terminal(UInt32(number)))), seconds < 1000 {
                asking.now += .seconds(1)
                seconds += 1
            }
            waited.append(seconds)
        }
        #expect(waited == [2, 4, 8, 16, 32])
        for number in 0..<6 { asking.ends(matter(at: terminal(UInt32(number))), .wrong) }
        #expect(asking.ask(matter(), .wrong) == 64)
    }

    @Test func `a question that was no guess costs nothing`() {
        for number in 0..<5 {
            #expect(asking.ask(matter(at: terminal(UInt32(number))), .undecided) == 0)
        }
    }

    @Test func `a question waits for those that are shown elsewhere, and not in its own queue`() {
        #expect(asking.begins(matter()))
        let other = matter(at: terminal(2))
        #expect(asking.budget.isWaiting(other, besides: nil, at: asking.now))
        #expect(!asking.budget.isWaiting(matter(), besides: terminal(1), at: asking.now))
        asking.ends(matter(), .proven)
        #expect(!asking.budget.isWaiting(other, besides: nil, at: asking.now))
    }

    @Test func `what was checked before is refused where a wrong answer came in between`() throws {
        try asking.budget.check(matter(), at: asking.now)
        _ = asking.ask(matter("exe:/tmp/a"), .wrong)
        #expect(!asking.begins(matter()))
        #expect(throws: RequestError.refused(.tooManyRequests)) {
            try asking.budget.check(matter(), at: asking.now)
        }
    }

    @Test func `guesses on terminals don't slow down the desktop, nor the other way round`() {
        for number in 0..<5 { _ = asking.ask(matter("exe:/tmp/\(number)"), .wrong) }
        #expect(asking.ask(matter(at: desktop), .wrong) == 0)
        #expect(asking.ask(matter(at: desktop), .wrong) == 2)
        #expect(asking.ask(matter(at: terminal(2)), .wrong) == 30)
    }

    @Test func `guesses elsewhere don't slow down a terminal where the user was proven`() {
        #expect(asking.ask(matter(at: terminal(1)), .proven) == 0)
        for number in 10..<18 { _ = asking.ask(matter(at: terminal(UInt32(number))), .wrong) }
        #expect(asking.ask(matter(at: terminal(1)), .wrong) == 0)
        // UnlockThrottle there cost what they cost, and another terminal waits as before.
        #expect(asking.ask(matter(at: terminal(1)), .wrong) == 2)
        #expect(asking.ask(matter(at: terminal(2)), .wrong) > 60)
        #expect(asking.ask(matter(at: terminal(1)), .proven) == 0)
        #expect(!asking.budget.isWaiting(matter(at: terminal(1)), besides: nil, at: asking.now))
    }

    @Test func `a question that was shown before the proof is over when it ends`() {
        #expect(asking.begins(matter("exe:/a", at: terminal(1))))
        asking.now += .seconds(2)
        #expect(asking.begins(matter("exe:/b", at: terminal(1))))
        asking.ends(matter("exe:/a", at: terminal(1)), .proven)
        asking.ends(matter("exe:/b", at: terminal(1)), .undecided)
        #expect(asking.begins(matter(at: terminal(2))))
    }

    @Test func `a no on one terminal silences no program anywhere else`() {
        for _ in 0..<3 { _ = asking.ask(matter("exe:/a", 1), .declined) }
        #expect(!asking.begins(matter("exe:/a", 1)))
        asking.now += .seconds(2)
        #expect(!asking.begins(matter("exe:/a", 1)))
        #expect(asking.ask(matter("exe:/a", 1, at: terminal(2)), .proven) == 0)
        #expect(asking.ask(matter("exe:/a", 1, at: desktop), .proven) == 0)
    }

    @Test func `ten questions on one terminal leave room on another, sixty on all of them do not`()
    {
        for number in 0..<UInt32(6) {
            #expect(put("exe:/a", at: terminal(number)) == 10)
        }
        #expect(!asking.begins(matter(at: terminal(99))))
    }

    @Test func `sixty questions on terminals of a program's making leave others as they are`() {
        #expect(asking.ask(matter(at: terminal(50)), .proven) == 0)
        for number in 0..<60 {
            #expect(asking.ask(matter(at: terminal(UInt32(100 + number))), .undecided) == 0)
        }
        #expect(!asking.begins(matter(at: terminal(99))))
        #expect(asking.ask(matter(at: terminal(50)), .proven) == 0)
        #expect(asking.ask(matter(at: desktop), .proven) == 0)
    }

    @Test func `a right answer forgives the wrong ones, a yes does not`() {
        for number in 0..<5 { _ = asking.ask(matter("exe:/tmp/\(number)"), .wrong) }
        #expect(asking.ask(matter("exe:/tmp/x"), .agreed) == 32)
        #expect(asking.ask(matter("exe:/tmp/y"), .wrong) == 0)
        #expect(asking.ask(matter("exe:/tmp/z"), .proven) == 64)
        _ = asking.ask(matter("exe:/tmp/v"), .wrong)
        #expect(asking.ask(matter("exe:/tmp/w"), .wrong) == 2)
    }

    @Test func `the second no about an item is heard for a minute, the next for two`() {
        #expect(asking.ask(matter("exe:/a", 1), .declined) == 0)
        #expect(asking.ask(matter("exe:/a", 1), .declined) == 2)
        #expect(asking.ask(matter("exe:/a", 1), .declined) == 60)
        #expect(asking.ask(matter("exe:/a", 1, 2), .declined) == 120)
        for _ in 0..<5 { _ = asking.ask(matter("exe:/a", 1), .declined) }
        #expect(asking.ask(matter("exe:/a", 1), .declined) == 900)
    }

    @Test func `a no about one item says nothing of another, or to another program`() {
        for _ in 0..<2 { _ = asking.ask(matter("exe:/a", 1), .declined) }
        asking.now += .seconds(2)
        #expect(asking.ask(matter("exe:/a", 2), .undecided) == 0)
        #expect(asking.ask(matter("exe:/b", 1), .undecided) == 0)
        #expect(!asking.begins(matter("exe:/a", 1)))
        #expect(!asking.begins(matter("exe:/a", 2, 1)))
    }

    @Test func `a program that goes from item to item is heard no longer after five`() {
        for number in 0..<5 { _ = asking.ask(matter("exe:/a", number), .declined) }
        #expect(asking.ask(matter("exe:/a", 99), .proven) == 60)
    }

    @Test func `an answer makes up for an earlier no`() {
        _ = asking.ask(matter("exe:/a", 1), .declined)
        _ = asking.ask(matter("exe:/a", 1), .agreed)
        _ = asking.ask(matter("exe:/a", 1), .declined)
        #expect(asking.ask(matter("exe:/a", 1), .proven) == 2)
    }

    @Test func `a no is forgotten after an hour of quiet`() {
        _ = asking.ask(matter("exe:/a", 1), .declined)
        asking.now += .seconds(3601)
        _ = asking.ask(matter("exe:/b", 1), .declined)
        _ = asking.ask(matter("exe:/a", 1), .declined)
        #expect(asking.ask(matter("exe:/a", 1), .proven) == 2)
    }

    @Test func `what was not decided counts as a question and as nothing else`() {
        for _ in 0..<9 { #expect(asking.ask(matter("exe:/a", 1), .undecided) == 0) }
    }

    @Test func `programs and items without end don't push out what counts most`() {
        for _ in 0..<3 { _ = asking.ask(matter("exe:/bad", 1), .declined) }
        for number in 0..<2 * PromptRateLimiter.mostSubjects {
            asking.ends(matter("exe:/tmp/\(number)", number), .declined)
        }
        asking.now += .seconds(3)
        #expect(!asking.begins(matter("exe:/bad", 1)))
    }

    @Test func `users without end have room, the latest of them`() {
        for user in 0..<UInt32(2 * PromptRateLimiter.mostUsers) {
            #expect(asking.begins(matter(user: user)))
            asking.now += .milliseconds(1)
        }
        let latest = UInt32(2 * PromptRateLimiter.mostUsers - 1)
        asking.ends(matter(user: latest), .undecided)
        for _ in 0..<9 {
            #expect(asking.begins(matter(user: latest)))
            asking.ends(matter(user: latest), .undecided)
        }
        #expect(!asking.begins(matter(user: latest)))
    }

    @Test func `the second no about a keychain is one to all programs, whichever asked first`() {
        func opening(_ program: String) -> PromptRateLimiter.Matter {
            var opening = matter(program)
            opening.keychain = "login"
            return opening
        }
        #expect(asking.ask(opening("exe:/usr/bin/git"), .declined) == 0)
        #expect(asking.ask(opening("exe:/usr/bin/mail"), .declined) == 2)
        #expect(asking.ask(opening("exe:/usr/bin/chat"), .agreed) == 60)
        #expect(asking.ask(opening("exe:/usr/bin/mail"), .agreed) == 0)
    }

    @Test func `the second no to a change is one to the same change of the same program`() {
        func changing(_ change: String, _ program: String = "exe:/a") -> PromptRateLimiter.Matter {
            var changing = matter(program)
            changing.change = change
            return changing
        }
        #expect(asking.ask(changing("createKeychain"), .declined) == 0)
        #expect(asking.ask(changing("createKeychain"), .declined) == 2)
        // For these there is the pause after each no alone.
        #expect(asking.ask(changing("createKeychain", "exe:/b"), .agreed) == 2)
        #expect(asking.ask(changing("deleteKeychain work"), .agreed) == 0)
        #expect(asking.ask(changing("createKeychain"), .agreed) == 58)
    }
}
