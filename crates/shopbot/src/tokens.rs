//! From where a bot's token is kept to the token, with an error in the words of an adapter: it says what to mend.

use kernel::{AdapterError, Category, Secret};
use platform::secrets::Secrets;

pub(crate) async fn find(secrets: &Secrets, reference: &str) -> Result<Secret, AdapterError> {
    let missing = |message| AdapterError::credential_missing(Category::Permanent, message);
    secrets.find(reference).await.map_err(missing)
}
