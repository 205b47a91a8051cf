#include <tss2/tss2_esys.h>
#include <tss2/tss2_mu.h>
#include <tss2/tss2_tctildr.h>

// What Swift can't read: constants behind casts.
static const ESYS_TR kc_none = ESYS_TR_NONE;
static const ESYS_TR kc_owner = ESYS_TR_RH_OWNER;
static const ESYS_TR kc_password = ESYS_TR_PASSWORD;
static const TPM2_SE kc_session_hmac = TPM2_SE_HMAC;
static const TPM2_SE kc_session_policy = TPM2_SE_POLICY;
static const TPM2_SE kc_session_trial = TPM2_SE_TRIAL;
static const TPM2_ALG_ID kc_sha256 = TPM2_ALG_SHA256;
static const TPM2_ALG_ID kc_aes = TPM2_ALG_AES;
static const TPM2_ALG_ID kc_cfb = TPM2_ALG_CFB;
static const TPMA_SESSION kc_continue = TPMA_SESSION_CONTINUESESSION;
static const TPMA_SESSION kc_decrypt = TPMA_SESSION_DECRYPT;
static const TPMA_SESSION kc_encrypt = TPMA_SESSION_ENCRYPT;

// A response of the TPM itself, and which: without the number of the session or parameter.
static inline TPM2_RC kc_tpm_error(TSS2_RC code) {
    if ((code & TSS2_RC_LAYER_MASK) != TSS2_TPM_RC_LAYER) return 0;
    return code & TPM2_RC_FMT1 ? code & 0xbf : code & 0xfff;
}
static inline int kc_is_tpm_layer(TSS2_RC code) {
    return (code & TSS2_RC_LAYER_MASK) == TSS2_TPM_RC_LAYER;
}
static const TPM2_RC kc_policy_fail = TPM2_RC_POLICY_FAIL;
static const TPM2_RC kc_pcr_changed = TPM2_RC_PCR_CHANGED;
static const TPM2_RC kc_integrity = TPM2_RC_INTEGRITY;
