// SPDX-License-Identifier: Apache-2.0
internal import KeychainLinuxSystem
package import MessageBus
internal import Terminal

/// What `keychain-secrets` does, with or without a daemon.
package enum SecretsProgram {
    /// Bytes of the name that a process chooses for itself, and more.
    private static let longestName = 64
    private static let longestCommand = 4096

    /// The one that has the service in itself.
    package static let embedded = "keychain-secrets-embedded"

    /// Offers the service until the bus goes; the number is the program's status.
    package static func serve(
        _ name: String, at address: BusAddress?, _ keychains: any PeerKeychains
    ) -> Int32 {
        guard let address else {
            return complain(name, "DBUS_SESSION_BUS_ADDRESS is no address of a socket")
        }
        do throws(BusFailure) {
            let bus = try BusConnection(
                address: address.text, descriptorMember: PortalRequest.member)
            return serve(name, bus, keychains)
        } catch { return complain(name, "no bus answers at \(address.text)") }
    }

    private static func serve(
        _ name: String, _ bus: BusConnection, _ keychains: any PeerKeychains
    ) -> Int32 {
        Descriptor.ignoreBrokenPipes()
        do throws(Bridge.Failure) {
            try Bridge(bus, keychains).run()
            return 0
        } catch {
            switch error {
            case .outOfDescriptors: return complain(name, "no descriptor is left")
            case .closed: return complain(name, "the bus closed the connection")
            case .failed(let error):
                return complain(name, "the connection to the bus failed with error \(error)")
            case .nameTaken(let process):
                return complain(name, "\(Names.service) belongs to \(owner(process))")
            }
        }
    }

    /// Says on descriptor 3 which process has the name: `free`, or its number and its program.
    package static func tellOwner(at address: BusAddress?) -> Int32 {
        guard let address, let bus = try? BusConnection(address: address.text) else { return 1 }
        var said: String?
        do throws(Bridge.Failure) {
            said =
                switch try NameOwner(bus).process() {
                case nil: "free"
                case .some(let process):
                    "\(process)" + (program(of: process).map { " " + $0 } ?? "")
                }
        } catch { return 1 }
        guard let said, (try? DescriptorOutput.write(Array((said + "\n").utf8))) != nil else {
            return 1
        }
        return 0
    }

    private static func owner(_ process: Int32?) -> String {
        guard let process else { return "another process" }
        return "process \(process)" + (program(of: process).map { " (\($0))" } ?? "")
    }

    /// The path, else the short name that the process has: of one that can't be looked into, as
    /// keychain-secrets itself.
    private static func program(of process: Int32) -> String? {
        if let file = PinnedProcess(pid: process, pidfd: nil)?.executable() { return file.path }
        let name = KernelFile.read("/proc/\(process)/comm", limit: longestName)
        let text = name.flatMap { String(validating: $0.prefix { $0 != 10 }, as: UTF8.self) }
        // The kernel cuts the names of both programs at the same letter.
        guard text == "keychain-secret", isEmbedded(process) else { return text }
        return embedded
    }

    /// By the words it was started with.
    private static func isEmbedded(_ process: Int32) -> Bool {
        let words = KernelFile.read("/proc/\(process)/cmdline", limit: longestCommand)?
            .split(separator: 0)
        return words?.contains { $0.elementsEqual("--embedded".utf8) } ?? false
    }

    @discardableResult
    package static func complain(_ name: String, _ text: String) -> Int32 {
        StandardStream.error.write("\(name): \(PlainText.line(text))\n")
        return 1
    }
}
