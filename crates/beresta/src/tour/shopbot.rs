//! The tour of the shop bot: a simulated customer in MAX goes through all its conversations, and every webhook comes again.

use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};

use super::{PATIENCE, Tour, TourReport};

/// The demo bot of `db/seed.sql`, as its simulated provider knows it.
const TOKEN: &str = "demo-token-for-the-simulated-max";

/// A conversation: what the customer writes, and what the answer says.
struct TourTalk {
    name: &'static str,
    turns: &'static [(&'static str, &'static str)],
}

const TALKS: [TourTalk; 6] = [
    TourTalk {
        name: "delivery",
        turns: &[("Сколько стоит ДОСТАВКА?", "курьером"), ("And how long is the delivery?", "pickup points")],
    },
    TourTalk {
        name: "payment", turns: &[("можно оплатить картой", "СБП"), ("can I pay by card?", "Pay by card")]
    },
    TourTalk {
        name: "returns", turns: &[("как вернуть товар", "14 дней"), ("what about a refund", "14 days")]
    },
    TourTalk {
        name: "warranty", turns: &[("чайник сломался", "12 месяцев"), ("it is broken", "12 months")]
    },
    TourTalk {
        name: "contacts", turns: &[("где вы находитесь?", "Людогощая"), ("your opening hours?", "10 am to 9 pm")]
    },
    TourTalk {
        name: "a return, step by step",
        turns: &[
            ("Хочу вернуть заказ", "номер заказа"),
            ("не помню", "от 4 до 10 цифр"),
            ("№ 10234", "Почему возвращаете"),
            ("не подошёл размер", "Записали возврат заказа"),
        ],
    },
];

pub(super) async fn play(tour: &Tour, report: &mut TourReport) {
    let seconds = i64::try_from(platform_seconds()).unwrap_or_default();
    // Dialogs of this run only: a chat that wrote a minute ago still has its state.
    let guest = ShopbotGuest { tour, first_chat: 2_000_000_000 + seconds % 100_000_000 * 10 };
    report.section("Shop bot");
    let mut updates = Vec::new();
    report.check("the bot listens to its webhook", guest.subscribe()).await;
    report.check("a customer goes through all six conversations, in Russian and English", guest.talk_all(&mut updates)).await;
    report.check("every webhook comes again, and nothing changes", guest.repeat_all(&updates)).await;
    report.check("the log says which rule answered, in which version, and what it did to the state", guest.log()).await;
    report.check("an update that nobody can read is acknowledged, kept and shown", guest.poison()).await;
}

fn platform_seconds() -> u64 {
    std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default().as_secs()
}

struct ShopbotGuest<'a> {
    tour: &'a Tour,
    first_chat: i64,
}

impl ShopbotGuest<'_> {
    async fn subscribe(&self) -> Result<String> {
        let url = format!("{}/max/subscriptions", self.tour.simulators);
        let body = json!({ "url": format!("{}/hooks/max", self.tour.base), "secret": self.tour.credentials.max_secret });
        let request = self.tour.client.request("POST".parse()?, &url).header("authorization", TOKEN).json(&body);
        let reply = self.tour.client.send(request).await?;
        ensure!(reply.status == 200, "status {}: {}", reply.status, reply.json().unwrap_or_default());
        Ok("MAX sends its updates to /hooks/max with the secret of the endpoint".to_owned())
    }

    /// All at once, as customers do; each waits for an answer before the next line.
    async fn talk_all(&self, updates: &mut Vec<Value>) -> Result<String> {
        let started = Instant::now();
        let talks = TALKS.iter().zip(self.first_chat..).map(|(talk, chat)| self.talk(talk, chat));
        for talked in futures::future::join_all(talks).await {
            updates.extend(talked?);
        }
        let names: Vec<&str> = TALKS.iter().map(|talk| talk.name).collect();
        Ok(format!(
            "{}: {} messages, each answered, in {:.1} s",
            names.join(", "),
            updates.len(),
            started.elapsed().as_secs_f64()
        ))
    }

    async fn talk(&self, talk: &TourTalk, chat: i64) -> Result<Vec<Value>> {
        let mut updates = Vec::new();
        for (turn, (line, expected)) in talk.turns.iter().enumerate() {
            updates.push(self.deliver(json!({ "chat_id": chat, "text": line })).await?);
            let answers = self.answers(chat, turn + 1).await.with_context(|| format!("{}: no answer to `{line}`", talk.name))?;
            let answer = answers[turn]["text"].as_str().unwrap_or_default();
            ensure!(answer.contains(expected), "{}: `{line}` was answered with `{answer}`", talk.name);
        }
        Ok(updates)
    }

    async fn repeat_all(&self, updates: &[Value]) -> Result<String> {
        ensure!(!updates.is_empty(), "there was no conversation");
        let before = self.facts().await?;
        for update in updates {
            self.deliver(json!({ "update": update })).await?;
        }
        let after = self.facts().await?;
        ensure!(before == after, "before {before}, after {after}");
        Ok(format!("{} webhooks again, all acknowledged: {after}", updates.len()))
    }

    /// What there is of the conversations of this run.
    async fn facts(&self) -> Result<String> {
        let query = "select format('%s messages, %s answers, %s log lines, %s turns',
                        (select count(*) from shopbot.bot_inbox where chat_id = any ($1)),
                        (select count(*) from shopbot.bot_outbox where chat_id = any ($1)),
                        (select count(*) from shopbot.bot_logs where chat_id = any ($1)),
                        (select sum((context->>'turns')::int) from shopbot.bot_state where chat_id = any ($1)))";
        let facts: String = sqlx::query_scalar(query).bind(self.chats()).fetch_one(self.tour.app.db.pool()).await?;
        let mut received = 0;
        for chat in self.first_chat..self.first_chat + 6 {
            received += self.received(chat).await?.len();
        }
        Ok(format!("{facts}, {received} received by MAX"))
    }

    async fn log(&self) -> Result<String> {
        let query =
            "select coalesce(matched_rule_id || ' v' || rule_version, '–') || ' (' || state_before || ' → ' || state_after || ')'
                       from shopbot.bot_logs where chat_id = $1 order by ts, id";
        let chat = (self.first_chat + 5).to_string();
        let lines: Vec<String> = sqlx::query_scalar(query).bind(chat).fetch_all(self.tour.app.db.pool()).await?;
        ensure!(lines.len() == 4 && lines.iter().all(|line| line.contains(" v")), "{lines:?}");
        ensure!(lines[3].ends_with("→ default)"), "{lines:?}");
        Ok(lines.join(", "))
    }

    async fn poison(&self) -> Result<String> {
        let url = format!("{}/hooks/max", self.tour.base);
        let body = format!("{{\"update_type\": \"message_created\", \"run\": {}", self.first_chat);
        for _ in 0..2 {
            let request = self.tour.client.request("POST".parse()?, &url);
            let request = request.header("X-Max-Bot-Api-Secret", &self.tour.credentials.max_secret).body(body.clone());
            let reply = self.tour.client.send(request).await?;
            ensure!(reply.status == 200, "status {}", reply.status);
        }
        let kept = self.tour.expect("GET", &format!("{}/api/bots/poison", self.tour.base), None, 200).await?;
        let first = &kept["data"]["poison"][0];
        ensure!(first["seen_count"] == 2, "{kept}");
        Ok(format!("seen twice, kept once: {}", first["problem"].as_str().unwrap_or("?")))
    }

    fn chats(&self) -> Vec<String> {
        (self.first_chat..self.first_chat + 6).map(|chat| chat.to_string()).collect()
    }

    /// Makes MAX deliver an update, and waits until our webhook has acknowledged it.
    async fn deliver(&self, mut what: Value) -> Result<Value> {
        what["provider"] = json!("max");
        what["token"] = json!(TOKEN);
        what["wait"] = json!(true);
        let told = self.tour.expect("POST", &format!("{}/control/updates", self.tour.simulators), Some(what), 200).await?;
        ensure!(told["delivery"]["status"] == 200, "the webhook answered {}", told["delivery"]);
        Ok(told["update"].clone())
    }

    /// Waits until a chat has this many answers.
    async fn answers(&self, chat: i64, count: usize) -> Result<Vec<Value>> {
        let started = Instant::now();
        loop {
            let answers = self.received(chat).await?;
            if answers.len() >= count {
                return Ok(answers);
            }
            ensure!(started.elapsed() < PATIENCE, "only {} of {count} after {} s", answers.len(), PATIENCE.as_secs());
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    async fn received(&self, chat: i64) -> Result<Vec<Value>> {
        let url = format!("{}/control/sent?provider=max&target={chat}", self.tour.simulators);
        let reply = self.tour.expect("GET", &url, None, 200).await?;
        Ok(reply["sent"].as_array().cloned().unwrap_or_default())
    }
}
