//! Signatures as Standard Webhooks says: HMAC-SHA256 over `id.timestamp.body`, with a key that is printed as `whsec_` and base64.

use std::fmt;

use base64::{
    Engine,
    alphabet::STANDARD,
    engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig},
};
use hmac::{Hmac, KeyInit, Mac};
use kernel::Secret;
use sha2::Sha256;

const PREFIX: &str = "whsec_";
/// People lose the padding when they copy.
const BASE64: GeneralPurpose =
    GeneralPurpose::new(&STANDARD, GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent));

/// A new secret of 256 random bits, as receivers take it.
pub fn new_secret() -> Secret {
    Secret::new(format!("{PREFIX}{}", BASE64.encode(rand::random::<[u8; 32]>())))
}

/// The bytes behind a secret.
#[derive(Clone)]
pub struct SigningKey(Vec<u8>);

impl SigningKey {
    /// The words of the error do not repeat the secret.
    pub fn parse(secret: &Secret) -> Result<Self, String> {
        let expected = "a webhook secret is `whsec_` and the base64 of 24 to 64 bytes; `beresta webhook secret` prints a new one";
        let encoded = secret.expose().strip_prefix(PREFIX).ok_or_else(|| format!("{expected}: this one lacks the prefix"))?;
        let key = BASE64.decode(encoded).map_err(|_| format!("{expected}: what follows the prefix is not base64"))?;
        match key.len() {
            24..=64 => Ok(Self(key)),
            bytes => Err(format!("{expected}: this one has {bytes}")),
        }
    }

    /// One entry of the header `webhook-signature`.
    pub fn sign(&self, webhook_id: &str, timestamp_s: i64, body: &str) -> String {
        let mut mac = Hmac::<Sha256>::new_from_slice(&self.0).expect("a key of any length");
        for part in [webhook_id, ".", &timestamp_s.to_string(), ".", body] {
            mac.update(part.as_bytes());
        }
        format!("v1,{}", BASE64.encode(mac.finalize().into_bytes()))
    }
}

impl fmt::Debug for SigningKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[secret]")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signature_is_that_of_the_specification() {
        // The example that the reference libraries are tested with.
        let key = SigningKey::parse(&Secret::new("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")).unwrap();
        let signature = key.sign("msg_p5jXN8AQM9LWM0D4loKWxJek", 1_614_265_330, r#"{"test": 2432232314}"#);
        assert_eq!(signature, "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
    }

    #[test]
    fn a_new_secret_is_one_that_can_be_used() {
        let (first, second) = (new_secret(), new_secret());
        assert_ne!(first.expose(), second.expose());
        assert_eq!(SigningKey::parse(&first).unwrap().0.len(), 32);
    }

    #[test]
    fn what_is_not_a_secret_is_refused_with_words_that_do_not_repeat_it() {
        let short = format!("whsec_{}", BASE64.encode([7; 23]));
        let long = format!("whsec_{}", BASE64.encode([7; 65]));
        for (secret, words) in
            [("hunter2hunter2", "prefix"), ("whsec_hunter2!", "not base64"), (short.as_str(), "has 23"), (&long, "has 65")]
        {
            let error = SigningKey::parse(&Secret::new(secret)).unwrap_err();
            assert!(error.contains(words) && !error.contains("hunter"), "{error}");
        }
        let unpadded = BASE64.encode([7; 32]).trim_end_matches('=').to_owned();
        assert!(SigningKey::parse(&Secret::new(format!("whsec_{unpadded}"))).is_ok());
    }
}
