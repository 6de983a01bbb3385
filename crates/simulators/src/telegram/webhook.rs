//! setWebhook, deleteWebhook, getWebhookInfo.

use std::sync::Arc;

use serde_json::{Value, json};
use url::{Host, Url};

use crate::http;
use crate::params::Params;
use crate::push::Report;
use crate::simulators::World;
use crate::sync::lock;

use super::bots::Bot;
use super::call::{Call, Outcome, described, success};
use super::errors::Refusal;
use super::inbox::Inbox;
use super::pusher::{self, Webhook};

const SECRET_CHARS_MAX: usize = 256;
const PORTS: [u16; 4] = [80, 88, 443, 8443];
const CONNECTIONS_DEFAULT: i64 = 40;
const CONNECTIONS_MAX: i64 = 100;

pub(super) fn set_webhook(call: &Call) -> Outcome {
    let url = call.params.text("url").unwrap_or_default().trim().to_owned();
    if url.is_empty() {
        return delete_webhook(call);
    }
    check_url(&url)?;
    let secret = call.params.text("secret_token").filter(|secret| !secret.is_empty()).map(String::from);
    check_secret(secret.as_deref())?;
    let allowed = allowed_updates(&call.params)?;
    let connections = call.params.int("max_connections").unwrap_or(CONNECTIONS_DEFAULT).clamp(1, CONNECTIONS_MAX);
    let connections = usize::try_from(connections).unwrap_or(1);
    let certificate = call.files.iter().any(|part| part.field == "certificate");
    let mut inbox = lock(&call.bot.inbox);
    if call.params.flag("drop_pending_updates") {
        inbox.pending.clear();
    }
    let same = inbox.webhook.as_ref().is_some_and(|old| {
        old.url == url && old.secret == secret && old.connections == connections && old.certificate == certificate
    });
    let same_updates = allowed.as_ref().is_none_or(|allowed| *allowed == inbox.allowed);
    if same && same_updates {
        return described(&true, Some("Webhook is already set"));
    }
    if let Some(allowed) = allowed {
        inbox.allowed = allowed;
    }
    install(&call.world, &call.bot, &mut inbox, Webhook::new(url, secret, connections, certificate));
    drop(inbox);
    call.bot.news.notify_waiters();
    described(&true, Some("Webhook was set"))
}

/// Puts a webhook in the place of the old one. What waits goes to it, under the lock of the inbox: an update that comes meanwhile
/// must not overtake an older one of its chat.
fn install(world: &Arc<World>, bot: &Arc<Bot>, inbox: &mut Inbox, webhook: Webhook) {
    remove(inbox);
    let webhook = Arc::new(webhook);
    for (update_id, pending) in &inbox.pending {
        pusher::enqueue(world, bot, &webhook, (pending.lane, *update_id), Report::default());
    }
    inbox.webhook = Some(webhook);
}

/// Takes the webhook away; what waits stays. True when there was one.
fn remove(inbox: &mut Inbox) -> bool {
    inbox.last_error = None;
    let old = inbox.webhook.take();
    if let Some(old) = &old {
        old.stop.cancel();
    }
    old.is_some()
}

/// Somebody else who has the token moves the webhook, or takes it away with an empty URL, as another program that calls setWebhook would.
pub(super) fn move_to(world: &Arc<World>, bot: &Arc<Bot>, url: String) -> Result<(), String> {
    let mut inbox = lock(&bot.inbox);
    if url.is_empty() {
        remove(&mut inbox);
    } else {
        check_url(&url).map_err(|refusal| format!("url: {}", refusal.description))?;
        let webhook = Webhook::new(url, None, CONNECTIONS_DEFAULT.unsigned_abs().try_into().unwrap_or(1), false);
        install(world, bot, &mut inbox, webhook);
    }
    drop(inbox);
    bot.news.notify_waiters();
    Ok(())
}

pub(super) fn delete_webhook(call: &Call) -> Outcome {
    let mut inbox = lock(&call.bot.inbox);
    if call.params.flag("drop_pending_updates") {
        inbox.pending.clear();
    }
    let description = if remove(&mut inbox) { "Webhook was deleted" } else { "Webhook is already deleted" };
    described(&true, Some(description))
}

pub(super) fn get_webhook_info(call: &Call) -> Outcome {
    success(&info(&lock(&call.bot.inbox)))
}

pub(super) fn info(inbox: &Inbox) -> Value {
    let mut info = json!({
        "url": "",
        "has_custom_certificate": false,
        "pending_update_count": inbox.pending.len(),
    });
    if let Some(webhook) = &inbox.webhook {
        info["url"] = json!(webhook.url);
        info["has_custom_certificate"] = json!(webhook.certificate);
        info["max_connections"] = json!(webhook.connections);
        info["ip_address"] = json!("127.0.0.1");
        if let Some((date, message)) = &inbox.last_error {
            info["last_error_date"] = json!(date);
            info["last_error_message"] = json!(message);
        }
    }
    if let Some(allowed) = &inbox.allowed {
        info["allowed_updates"] = json!(allowed);
    }
    info
}

/// `None`: keep what was; `Some(None)`: the default set, asked for by an empty list.
#[expect(clippy::option_option, reason = "absent, empty and given are three different wishes here")]
pub(super) fn allowed_updates(params: &Params) -> Result<Option<Option<Vec<String>>>, Refusal> {
    let Some(given) = params.json("allowed_updates") else {
        return Ok(None);
    };
    let list: Option<Vec<String>> = given.ok().and_then(|given| serde_json::from_value(given.into_owned()).ok());
    let list = list.ok_or_else(|| Refusal::bad_request("can't parse allowed_updates JSON object"))?;
    Ok(Some((!list.is_empty()).then_some(list)))
}

fn check_url(url: &str) -> Result<(), Refusal> {
    let bad = |reason: &str| Refusal::bad_request(&format!("bad webhook: {reason}"));
    let url = Url::parse(url).map_err(|_| Refusal::bad_request("invalid webhook URL specified"))?;
    // As a server started with `--local`: plain http and any port, here for this machine only.
    if http::is_loopback(&url) && matches!(url.scheme(), "http" | "https") {
        return Ok(());
    }
    if url.scheme() != "https" {
        return Err(bad("An HTTPS URL must be provided for webhook"));
    }
    if !PORTS.contains(&url.port_or_known_default().unwrap_or(443)) {
        return Err(bad("Webhook can be set up only on ports 80, 88, 443 or 8443"));
    }
    match url.host() {
        Some(Host::Ipv4(address)) if address.is_private() || address.is_link_local() || address.is_unspecified() => {
            Err(bad(&format!("IP address {address} is reserved")))
        }
        Some(Host::Ipv6(_)) => Err(bad("IPv6-only addresses are not allowed")),
        // Names are not resolved: a test must not depend on a network.
        _ if http::is_unreachable(&url) => Err(bad("Failed to resolve host: Name or service not known")),
        _ => Ok(()),
    }
}

fn check_secret(secret: Option<&str>) -> Result<(), Refusal> {
    let secret = secret.unwrap_or_default();
    if secret.len() > SECRET_CHARS_MAX {
        return Err(Refusal::bad_request("secret token is too long"));
    }
    if !secret.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-')) {
        return Err(Refusal::bad_request("secret token contains unallowed characters"));
    }
    Ok(())
}
