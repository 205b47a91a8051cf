// SPDX-License-Identifier: Apache-2.0
internal import MessageBus
@testable internal import SecretService
internal import Testing

@Suite struct ObjectPathTests {
    private let item = "0123456789abcdef0123456789abcdef"

    @Test(arguments: [
        "/org/freedesktop/secrets", "/org/freedesktop/secrets/collection",
        "/org/freedesktop/secrets/collection/login", "/org/freedesktop/secrets/aliases/default",
        "/org/freedesktop/secrets/collection/my_2eown_5fkeys_2d2",
        "/org/freedesktop/secrets/aliases/a_b",
        "/org/freedesktop/secrets/collection/login/0123456789abcdef0123456789abcdef",
        "/org/freedesktop/secrets/aliases/default/0123456789abcdef0123456789abcdef",
        "/org/freedesktop/secrets/session/0123456789abcdef0123456789abcdef",
        "/org/freedesktop/secrets/prompt/0123456789abcdef0123456789abcdef",
        "/org/freedesktop/portal/desktop", "/org/freedesktop/portal/desktop/request/1_7/t",
    ])
    func `a path that names something is written as it was read`(path: String) {
        #expect(ObjectPath(path)?.description == path)
    }

    @Test(arguments: [
        "", "/", "/org/freedesktop", "/org/freedesktop/secrets/", "/org/freedesktop/secretsx",
        "/org/freedesktop/secretsx/collection", "/org/freedesktop/secrets/other",
        "/org/freedesktop/secrets/collection/", "/org/freedesktop/secrets/collection/a.b",
        "/org/freedesktop/secrets/collection/a_", "/org/freedesktop/secrets/collection/a_6",
        "/org/freedesktop/secrets/collection/a_zz", "/org/freedesktop/secrets/collection/a_2E",
        "/org/freedesktop/secrets/collection/_61", "/org/freedesktop/secrets/collection/_ff",
        "/org/freedesktop/secrets/collection/login/1",
        "/org/freedesktop/secrets/collection/login/0123456789ABCDEF0123456789abcdef",
        "/org/freedesktop/secrets/collection/login/0123456789abcdef0123456789abcdef/x",
        "/org/freedesktop/secrets/session/s1", "/org/freedesktop/secrets/prompt/p1",
        "/org/freedesktop/secrets/session/0123456789abcdef0123456789abcdef/x",
        "/org/freedesktop/secrets/aliases/a-b", "/org/freedesktop/portal",
        "/org/freedesktop/portal/desktopx", "/org/freedesktop/portal/desktop/request",
        "/org/freedesktop/portal/desktop/session/1_7/t",
    ])
    func `any other path names nothing`(path: String) {
        #expect(ObjectPath(path) == nil)
    }

    @Test(arguments: [
        "/org/freedesktop/secrets/collection/a_", "/org/freedesktop/secrets/collection/login/12",
        "/org/freedesktop/secrets/aliases/default/12",
    ])
    func `a collection or an item of another spelling is none of this service's`(path: String) {
        #expect(ObjectPath.refusal(of: path) == .noSuchObject)
    }

    @Test(arguments: [
        "/", "/not/existing/path", "/org/freedesktop/secrets/other",
        "/org/freedesktop/secrets/session/s1", "/org/freedesktop/secrets/prompt/p1",
        "/org/freedesktop/secrets/collectionx/login",
        "/org/freedesktop/secrets/collection/login/12/x",
    ])
    func `any other path has no method`(path: String) {
        #expect(ObjectPath.refusal(of: path) == .unknownObject)
        #expect(ObjectPath.refusal(of: path).name.hasSuffix(".UnknownMethod"))
    }

    @Test func `a path longer than any name is not taken apart`() {
        let long = String(repeating: "a", count: ObjectPath.longest)
        #expect(ObjectPath("/org/freedesktop/secrets/collection/" + long) == nil)
    }

    @Test(arguments: ["login", "a.b", "x_1-2", "Straße", "_", "-"])
    func `each name has one path of letters, digits and underscores`(name: String) {
        let element = CollectionName.encoded(name)
        #expect(CollectionName.decoded(element) == name)
        #expect(element.utf8.allSatisfy { CollectionName.isPlain($0) || $0 == UInt8(ascii: "_") })
    }

    @Test func `a keychain's name is made of a label once`() throws {
        #expect(try PromptAnswers.name(for: "My keys", without: []) == "My_keys")
        #expect(try PromptAnswers.name(for: "My keys", without: ["My_keys"]) == "My_keys_1")
        #expect(try PromptAnswers.name(for: "", without: []) == "collection")
        for reserved in ["login", "session", "system"] {
            let name = try PromptAnswers.name(for: reserved, without: ["session", "system"])
            #expect(name == reserved + "_1")
        }
    }
}

@Suite struct BusAddressTests {
    @Test(arguments: [
        "unix:path=/run/user/1000/bus", "unix:path=/tmp/dbus-x,guid=0123",
        "unix:abstract=/tmp/dbus-x,guid=0123",
    ])
    func `a socket of this machine is an address`(text: String) {
        #expect(BusAddress(text)?.text == text)
    }

    @Test(arguments: [
        "", "unixexec:path=/bin/sh,argv1=-c", "tcp:host=127.0.0.1,port=1", "kernel:path=/x",
        "x-machine-unix:machine=a", "autolaunch:", "unix:tmpdir=/tmp", " unix:path=/run/bus",
        "UNIX:path=/run/bus", "nonce-tcp:host=localhost",
    ])
    func `an address that starts a program or leaves the machine is none`(text: String) {
        #expect(BusAddress(text) == nil)
    }

    @Test func `of a list the first socket is taken and nothing else of it`() {
        #expect(
            BusAddress("unixexec:path=/bin/sh;unix:path=/run/bus;tcp:host=a")?.text
                == "unix:path=/run/bus")
    }
}
