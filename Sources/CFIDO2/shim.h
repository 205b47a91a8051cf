#include <fido.h>

// What Swift can't read: a constant of an enumeration without a name.
static const int kc_es256 = COSE_ES256;
static const int kc_hmac_secret = FIDO_EXT_HMAC_SECRET;
