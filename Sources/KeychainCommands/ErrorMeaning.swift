// SPDX-License-Identifier: Apache-2.0
internal import KeychainModel

/// The one table from an error to what a person and a script learn of it.
struct ErrorMeaning {
    let code: ResultCode
    let sentence: String
    let advice: String?

    private init(_ code: ResultCode, _ sentence: String, _ advice: String? = nil) {
        self.code = code
        self.sentence = sentence
        self.advice = advice
    }

    /// Without a name the user's preferences said which keychain is meant: the login keychain,
    /// where they say nothing else.
    init(_ error: RequestError, keychain named: String?) {
        let name = named ?? KeychainName.login.description
        if name == KeychainName.system.description, let known = Self(ofSystem: error, name) {
            self = known
            return
        }
        self =
            switch error {
            case .invalid(let what): Self(what, keychain: name)
            case .refused(let why): Self(why, keychain: name)
            case .state(let state): Self(state, keychain: name, named: named)
            case .failed(let failure): Self(failure, keychain: name)
            }
    }

    /// What is different of the machine's keychain.
    private init?(ofSystem error: RequestError, _ name: String) {
        switch error {
        case .state(.readOnly), .refused(.notEntitled):
            self = Self(
                .refused, "the keychain “\(name)” is the machine's, and not open to this program",
                "root's keychainctl add keeps items there for services.")
        case .state(.passcodeNotSet), .invalid(.notImplemented):
            self = Self(
                .failure, "“\(name)” is the name of the machine's keychain, which has no password",
                "It opens by itself where the keychain service runs.")
        case .state(.notOpenedHere):
            self = Self(
                .locked, "nothing on this machine opens the keychain “\(name)”",
                """
                With its recovery key: keychainctl protector add device --keychain \(name) \
                --recovery-key. It is added where the keychain was made, before the backup.
                """)
        case .state(.noSuchKeychain):
            self = Self(
                .notFound, "there is no keychain “\(name)” here",
                "It is the keychain service's; keychainctl status says whether one runs here.")
        case .invalid, .refused, .state, .failed: return nil
        }
    }

    /// Of what was asked.
    private init(_ what: InvalidRequest, keychain name: String) {
        self =
            switch what {
            case .badRequest: Self(.usage, "the request makes no sense", "See keychainctl(1).")
            case .noSuchAttribute:
                Self(.usage, "items of this class have no such attribute", "See keychainctl(1).")
            case .noSuchClass: Self(.usage, "there is no such class of items")
            case .dataTooLarge:
                Self(
                    .failure, "it is too large",
                    "Passwords have at most 1024 bytes, secrets of items 32 MiB.")
            case .notImplemented: Self(.failure, "this version can't do that")
            case .needsProofOfEach:
                Self(
                    .usage,
                    "one of the items needs a proof, and all secrets were asked for at once",
                    "keychainctl list shows the items; keychainctl get reads one of them.")
            case .badKeychainName:
                Self(
                    .usage, "“\(name)” can't be the name of a keychain",
                    "Letters, digits, “.”, “_” and “-”, at most 64, not beginning with a dot.")
            }
    }

    /// Of what the client may not have.
    private init(_ why: Refusal, keychain name: String) {
        self =
            switch why {
            case .notEntitled:
                Self(
                    .refused, "this program does not belong to that access group",
                    "keychainctl status shows as which program the service knows it.")
            case .authenticationFailed:
                Self(
                    .notAuthenticated, "you were not authenticated, or never can be for this item",
                    """
                    If you were not asked: such an item needs a keychain with a password; \
                    keychainctl status shows whether it has one.
                    """)
            case .cancelled: Self(.cancelled, "the question was cancelled")
            case .interactionNotAllowed:
                Self(
                    .locked, "you would have to be asked, and there is no way to ask you",
                    """
                    Run it in the foreground of a terminal; on the desktop, \
                    keychain-prompter.service asks in windows.
                    """)
            case .tooManyRequests:
                Self(
                    .notAuthenticated, "there were too many tries",
                    "Wait a minute, then try again.")
            case .wrongPassword:
                Self(
                    .notAuthenticated, "that is not the password of the keychain “\(name)”",
                    "It may be a password that you logged in with earlier.")
            case .forbidden:
                Self(
                    .refused, "a rule of this machine's policy does not allow it",
                    "keychainctl policy explain --last-denied says which rule, and why.")
            case .wrongApplicationPassword:
                Self(
                    .notAuthenticated, "that is not the application password of the item",
                    "It is the password that the item was added with.")
            case .belongsToAnother:
                Self(
                    .refused, "the keychain “\(name)” belongs to another account",
                    """
                    A reused user number does not inherit its keychains. Where the account was \
                    renamed, root names it in /etc/keychain/renamed-accounts: see keychaind(8).
                    """)
            case .wrongRecoveryKey:
                Self(
                    .notAuthenticated, "that is no recovery key of the keychain “\(name)”",
                    "It is whole, but of another keychain, or it was removed.")
            case .wrongPIN:
                Self(
                    .notAuthenticated, "the security key wants its PIN, or that is not its PIN",
                    "After eight wrong ones in a row it blocks itself.")
            }
    }

    /// Of how the keychain, the item or the machine is.
    private init(_ state: KeychainState, keychain name: String, named: String?) {
        self =
            switch state {
            case .notFound:
                Self(
                    .notFound,
                    "there is no such item" + (named.map { " in the keychain “\($0)”" } ?? ""),
                    "keychainctl list shows the items that you may see.")
            case .duplicate:
                Self(
                    .exists,
                    named.map { "the keychain “\($0)” has such an item already" }
                        ?? "there is such an item already",
                    "keychainctl update changes it.")
            case .locked:
                Self(
                    .locked, "the keychain “\(name)” is locked",
                    "keychainctl unlock \(name) opens it with its password.")
            case .passcodeNotSet:
                Self(
                    .failure, "the keychain “\(name)” is not protected by a password",
                    "keychainctl set-password \(name) protects it.")
            case .noSession:
                Self(
                    .locked, "the keychain service knows no login session of yours",
                    "Log in through a service that runs pam_keychain.so.")
            case .noSuchKeychain:
                Self(
                    .notFound, "there is no keychain “\(name)”",
                    "keychainctl create \(name) makes it.")
            case .duplicateKeychain: Self(.exists, "there is a keychain “\(name)” already")
            case .newerVersion:
                Self(
                    .failure, "the keychain “\(name)” was written by a newer version",
                    "Install that version, or a later one.")
            case .readOnly:
                Self(
                    .failure, "the file of the keychain “\(name)” can't be written",
                    "Is its disk mounted read-only? keychainctl status shows where the file is.")
            case .noDefaultKeychain:
                Self(
                    .notFound, "you have said that there is no default keychain",
                    "keychainctl default-keychain --set names one; --keychain does it for once.")
            case .noSuchProtector:
                Self(
                    .notFound, "the keychain “\(name)” has no such protector",
                    "keychainctl protector list shows what opens it.")
            case .lastProtector:
                Self(
                    .refused, "nothing that works would open the keychain “\(name)” any more",
                    "keychainctl protector add adds another; then this one can go.")
            case .protectorNotAvailable:
                Self(
                    .failure, "this machine or its keychain service has no such thing",
                    """
                    A TPM is looked for at /dev/tpmrm0, or where /etc/keychain/tpm.conf says; one \
                    FIDO2 key is to be plugged in; a credential is given to the service by systemd \
                    when it starts.
                    """)
            case .measurementsDiffer:
                Self(
                    .failure, "this machine was started differently (its PCRs changed)",
                    "Open it another way; then remove this protector and add it anew.")
            case .protectorChanged:
                Self(
                    .failure, "it is not what this protector was made with, or it was cleared",
                    "Open it another way; then remove this protector and add it anew.")
            case .notOpenedHere:
                Self(
                    .failure, "only the machine that made the keychain “\(name)” can open it",
                    "Protect it by a password there, and copy it then.")
            case .olderService:
                Self(
                    .failure, "the keychain service that runs is older than this program",
                    "systemctl restart keychaind starts the one that is installed.")
            case .olderProgram:
                Self(
                    .failure, "this program is older than the keychain service that runs",
                    "Install the same version of both.")
            case .noSuchPeer:
                Self(.failure, "the keychain service has forgotten for which program this asks")
            }
    }

    /// Of what is broken, full or silent.
    private init(_ failure: ServiceFailure, keychain name: String) {
        let option = name == KeychainName.login.description ? "" : " --keychain \(name)"
        self =
            switch failure {
            case .damaged:
                Self(
                    .damaged, "the file of the keychain “\(name)” is damaged",
                    """
                    Nothing was overwritten. keychainctl restore brings back a backup or, with \
                    --generation, an earlier state.
                    """)
            case .damagedPolicy:
                Self(
                    .failure, "the policies can't be used; what was in force stays in force",
                    "keychainctl policy check says what is wrong, and where.")
            case .keychainGone:
                Self(
                    .damaged,
                    """
                    the file of the keychain “\(name)” is gone, and earlier copies of it are \
                    still there; no new one was made in its place
                    """,
                    """
                    keychainctl restore --list\(option) shows the earlier states that are kept; \
                    keychainctl restore --generation NUMBER\(option) brings one back, \
                    keychainctl restore FILE\(option) a backup.
                    """)
            case .derivationTooCostly:
                Self(
                    .refused,
                    "its password takes more work than keychains ever ask for: it was altered",
                    "Nothing was changed. Restore another backup, or an earlier state.")
            case .diskFull:
                Self(
                    .failure, "the disk is full; nothing was changed",
                    "Make room, then try again.")
            case .inputOutput:
                Self(
                    .failure, "the disk reported an error; nothing was acknowledged",
                    """
                    journalctl -k has the disk's errors; keychainctl backup saves what can still \
                    be read.
                    """)
            case .notAvailable:
                Self(
                    .failure, "the keychain service does not answer",
                    "systemctl status keychaind shows whether it runs.")
            case .noAuthentication:
                Self(
                    .failure,
                    "no user and no device can be asked: keychain-starter does not answer",
                    "Try again; keychainctl doctor says what is wrong.")
            case .outOfMemory:
                Self(
                    .failure, "there is not enough memory",
                    "Wait until other requests to the keychain have ended, then try again.")
            case .internalError:
                Self(
                    .failure, "the keychain service had an internal error",
                    "journalctl -u keychaind has more.")
            case .protectorFailed:
                Self(
                    .failure, "the TPM or security key does not answer, or refused",
                    """
                    Is /etc/keychain/tpm.conf right? A security key may be blocked by wrong PINs. \
                    Nothing was changed.
                    """)
            }
    }
}
