//! The updates of the echo bot's bots: each message is taken once.

use messengers::Inbound;
use platform::{
    DbError,
    door::BotUpdate,
    http::{App, Failure, parse_json},
    wake::Topic,
};
use uuid::Uuid;

use crate::sender::ECHOES;

/// An update that cannot be read is acknowledged too: the provider would only send it again.
pub(crate) async fn receive(app: App, update: BotUpdate) -> Result<(), Failure> {
    let Ok(body) = parse_json(&update.body) else { return Ok(()) };
    let inbound = if update.provider == "max" { Inbound::from_max(&body) } else { Inbound::from_telegram(&body) };
    let Ok(Some(Inbound { chat_id, provider_message_id, text: Some(text), .. })) = inbound else { return Ok(()) };
    let taken: Option<Uuid> = sqlx::query_scalar("select echobot.take_message($1, $2, $3, $4, $5, $6)")
        .bind(update.workspace.uuid())
        .bind(update.bot_id)
        .bind(chat_id)
        .bind(provider_message_id)
        .bind(text)
        .bind(update.trace.to_string())
        .fetch_one(app.db.pool())
        .await
        .map_err(DbError::from)?;
    if taken.is_some() {
        app.db.wake().tell(ECHOES);
        app.db.wake().tell(Topic::JOBS);
        app.db.wake().tell(Topic::BUS);
    }
    Ok(())
}
