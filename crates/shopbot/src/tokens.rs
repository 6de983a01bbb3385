//! From where a bot's token is kept to the token, with an error in the words of an adapter: it says what to mend.

use kernel::{AdapterError, Category, ErrorKind, ErrorScope, Secret};
use platform::secrets::Secrets;

pub(crate) async fn find(secrets: &Secrets, reference: &str) -> Result<Secret, AdapterError> {
    secrets.find(reference).await.map_err(|message| {
        AdapterError::new(Category::Permanent, ErrorScope::Channel, ErrorKind::Unauthorized, "credential_missing", message)
    })
}
