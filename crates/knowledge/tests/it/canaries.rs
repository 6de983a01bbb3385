//! Visibility as a property: whatever people say, edit, forget, join and leave, nothing that is found, answered, cited, sent or logged has a
//! word that its audience may not see. And the proof of the proof: without the rule of audiences, the same runs fail.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use kernel::TraceId;
use platform::assistant::McpCall;
use serde_json::{Value, json};
use testkit::http::ask;

use crate::world::{ADMIN, Archive, GROUP, MEMBER};

const OTHERS: [i64; 2] = [5_000_000_011, 5_000_000_012];
const GROUPS: [i64; 3] = [GROUP, GROUP - 1, GROUP - 2];
const SUBJECTS: [&str; 5] = ["склада", "ярмарки", "доставки", "мастерской", "выставки"];
const STEPS: usize = 60;

/// A word that is said once: nobody else would say it, and no form of another word is like it.
fn canary(number: usize) -> String {
    format!("zq{number:05}kx")
}

/// The canaries in a text.
fn canaries_in(text: &str) -> BTreeSet<String> {
    let is_one = |word: &&str| word.starts_with("zq") && word.ends_with("kx");
    text.split(|c: char| !c.is_ascii_alphanumeric()).filter(is_one).map(ToOwned::to_owned).collect()
}

/// Numbers from a seed: a run that fails can be repeated.
struct Dice(u64);

impl Dice {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from((self.0 >> 33) % end as u64).expect("it is below a usize")
    }

    fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())]
    }
}

/// What was said in a chat, as it is now.
#[derive(Clone)]
struct CanaryLine {
    chat: i64,
    by: i64,
    message_id: i64,
    canary: String,
    subject: &'static str,
}

/// The archive, and beside it what it should be like.
struct CanaryRun {
    archive: Archive,
    dice: Dice,
    at: i64,
    canaries: usize,
    lines: Vec<CanaryLine>,
    members: BTreeSet<(i64, i64)>,
    disabled: BTreeSet<i64>,
    /// How many messages of each chat were looked at.
    heard: BTreeMap<i64, usize>,
    /// The first one.
    leak: Option<String>,
}

impl CanaryRun {
    async fn new(seed: u64) -> Self {
        let mut archive = Archive::new().await;
        archive.knowledge.membership_proof_max = Duration::from_hours(24 * 3650);
        archive.rewire();
        for group in &GROUPS[1..] {
            let call = format!("select knowledge.register_chat($ws, {group}, '{}', {ADMIN})", archive.bot);
            archive.run(&call).await;
        }
        for person in OTHERS {
            archive.run(&format!("insert into core.tenant_users (workspace_id, tg_user_id) values ($ws, {person})")).await;
        }
        for (name, person) in [("member", MEMBER), ("admin", ADMIN), ("other", OTHERS[0]), ("another", OTHERS[1])] {
            knowledge::manage::tie_person(&archive.knowledge.db, archive.workspace, person, name).await.expect("it is tied");
        }
        let (lines, members, disabled) = (Vec::new(), BTreeSet::new(), BTreeSet::new());
        Self { archive, dice: Dice(seed), at: 1, canaries: 0, lines, members, disabled, heard: BTreeMap::new(), leak: None }
    }

    fn person(&mut self) -> (i64, &'static str) {
        self.dice.pick(&[(MEMBER, "member"), (ADMIN, "admin"), (OTHERS[0], "other"), (OTHERS[1], "another")])
    }

    /// What may be seen: in a group what it shared; in private one's own notes and the groups one is in, for an admin all notes.
    fn visible(&self, person: i64, group: Option<i64>) -> BTreeSet<String> {
        let may_see = |line: &&CanaryLine| match group {
            Some(group) => line.chat == group && !self.disabled.contains(&group),
            None if line.chat > 0 => line.chat == person || person == ADMIN,
            None => self.members.contains(&(line.chat, person)) && !self.disabled.contains(&line.chat),
        };
        self.lines.iter().filter(may_see).map(|line| line.canary.clone()).collect()
    }

    /// Notes a leak if a text has a canary that is not among those.
    fn look(&mut self, place: &str, text: &str, visible: &BTreeSet<String>) {
        let leaked: Vec<String> = canaries_in(text).difference(visible).cloned().collect();
        if !leaked.is_empty() && self.leak.is_none() {
            self.leak = Some(format!("{place} has {leaked:?}: {text}"));
        }
    }

    fn body(&self, chat: i64, by: i64, message_id: i64, text: &str) -> Value {
        let chat = if chat > 0 {
            json!({"id": chat, "type": "private", "first_name": "Кто-то"})
        } else {
            json!({"id": chat, "type": "supergroup", "title": "Отдел"})
        };
        json!({"message_id": message_id, "date": 1_790_000_000 + self.at, "text": text, "chat": chat,
               "from": {"id": by, "is_bot": false, "first_name": "Кто-то"}})
    }

    async fn step(&mut self) {
        self.at += 10;
        match self.dice.below(12) {
            0..=3 => self.say().await,
            4 => self.edit().await,
            5 => self.forget().await,
            6 => self.come_or_go().await,
            7 => self.toggle().await,
            8 => self.search().await,
            9 => self.assistant().await,
            _ => self.question().await,
        }
        self.archive.work().await;
        self.archive.say().await;
        self.listen().await;
    }

    async fn say(&mut self) {
        let (by, _) = self.person();
        let chat = self.dice.pick(&[GROUPS[0], GROUPS[1], GROUPS[2], by]);
        if self.disabled.contains(&chat) {
            return;
        }
        self.canaries += 1;
        let line =
            CanaryLine { chat, by, message_id: self.at, canary: canary(self.canaries), subject: self.dice.pick(&SUBJECTS) };
        let body = self.body(chat, by, line.message_id, &format!("Код от {} сегодня {}", line.subject, line.canary));
        self.archive.process(&json!({"update_id": self.at, "message": body})).await;
        if chat < 0 {
            self.members.insert((chat, by));
        }
        self.lines.push(line);
    }

    async fn edit(&mut self) {
        if self.lines.is_empty() {
            return;
        }
        let at = self.dice.below(self.lines.len());
        let line = self.lines[at].clone();
        if self.disabled.contains(&line.chat) {
            return;
        }
        self.canaries += 1;
        let text = format!("Код от {} теперь {}", line.subject, canary(self.canaries));
        let mut body = self.body(line.chat, line.by, line.message_id, &text);
        body["date"] = json!(1_790_000_000 + line.message_id);
        body["edit_date"] = json!(1_790_000_000 + self.at);
        self.archive.process(&json!({"update_id": self.at, "edited_message": body})).await;
        self.lines[at].canary = canary(self.canaries);
    }

    async fn forget(&mut self) {
        if self.lines.is_empty() {
            return;
        }
        let line = self.lines.swap_remove(self.dice.below(self.lines.len()));
        let call = format!("knowledge.forget($ws, 'message', {}, {}, null, 'test')", line.chat, line.message_id);
        self.archive.ask(&call).await;
    }

    async fn come_or_go(&mut self) {
        let (group, (person, _)) = (self.dice.pick(&GROUPS), self.person());
        if self.disabled.contains(&group) {
            return;
        }
        let is_member = self.members.contains(&(group, person));
        let status = |is_member: bool| if is_member { "member" } else { "left" };
        self.archive
            .process(&json!({"update_id": self.at, "chat_member": {
                "chat": {"id": group, "type": "supergroup", "title": "Отдел"}, "date": 1_790_000_000 + self.at,
                "from": {"id": 1, "first_name": "A"}, "old_chat_member": {"user": {"id": person}, "status": status(is_member)},
                "new_chat_member": {"user": {"id": person, "first_name": "Кто-то"}, "status": status(!is_member)}}}))
            .await;
        if is_member {
            self.members.remove(&(group, person));
        } else {
            self.members.insert((group, person));
        }
    }

    async fn toggle(&mut self) {
        let group = self.dice.pick(&GROUPS);
        if self.disabled.remove(&group) {
            let call = format!("select knowledge.register_chat($ws, {group}, '{}', {ADMIN})", self.archive.bot);
            self.archive.run(&call).await;
        } else if self.dice.below(2) == 0 {
            self.archive.ask(&format!("knowledge.disable_chat($ws, {group})")).await;
            self.disabled.insert(group);
        }
    }

    /// A person, and where they ask: in private, or in a group.
    fn asker(&mut self) -> (i64, &'static str, Option<i64>, String) {
        let (person, name) = self.person();
        let group = self.dice.pick(&[None, Some(GROUPS[0]), Some(GROUPS[1]), Some(GROUPS[2])]);
        (person, name, group, format!("какой код от {}?", self.dice.pick(&SUBJECTS)))
    }

    async fn search(&mut self) {
        let (person, _, group, question) = self.asker();
        let encoded: String = url::form_urlencoded::byte_serialize(question.as_bytes()).collect();
        let chat = group.map(|group| format!("&chat_id={group}")).unwrap_or_default();
        let path = format!("/api/knowledge/search?q={encoded}&as={person}{chat}");
        let (_, body) = ask(&self.archive.router, Some(&self.archive.token), "GET", &path, None).await;
        let visible = self.visible(person, group);
        self.look("a search", &body.to_string(), &visible);
    }

    async fn question(&mut self) {
        let (person, _, group, question) = self.asker();
        let channel = if group.is_some() { "group" } else { "dm" };
        let req = json!({"tg_user_id": person, "channel": channel, "chat_id": group, "question": question});
        let (status, body) = self.archive.call("WF51", req).await;
        let visible = self.visible(person, group);
        self.look("an answer", &body.to_string(), &visible);
        if status == 200 {
            let of_turn = format!(
                "(select jsonb_agg(k.text) from audit.qa_turns t cross join jsonb_array_elements(t.candidates) f
                    join kg.chunks k on k.id = (f ->> 'chunk_id')::bigint where t.id = {})",
                body["data"]["turn_id"]
            );
            let found = self.archive.ask(&of_turn).await.to_string();
            self.look("the candidates of an answer", &found, &visible);
        }
    }

    async fn assistant(&mut self) {
        let (person, name, _, question) = self.asker();
        let tools = knowledge::service(&self.archive.knowledge).tools;
        for tool in &tools {
            let call = McpCall {
                workspace: self.archive.workspace,
                person: name.to_owned(),
                trace_id: TraceId::new(),
                arguments: json!({ "question": question }).as_object().cloned().unwrap_or_default(),
            };
            if let Ok(answer) = tool.call(call).await {
                let visible = self.visible(person, None);
                self.look(tool.name, &json!(answer.fields).to_string(), &visible);
                self.look("the request log", &answer.logged.to_string(), &BTreeSet::new());
            }
        }
    }

    /// What the bot said since: in a group to the group, in private to its person.
    async fn listen(&mut self) {
        for chat in GROUPS.into_iter().chain([MEMBER, ADMIN]).chain(OTHERS) {
            let sent = self.archive.sent("telegram", chat).await;
            let known = self.heard.insert(chat, sent.len()).unwrap_or_default();
            let visible = self.visible(chat, Some(chat).filter(|chat| *chat < 0));
            for message in &sent[known..] {
                self.look("a message of the bot", message["text"].as_str().unwrap_or_default(), &visible);
            }
        }
        let logged = "(select coalesce(string_agg(j::text, ' '), '') from ops.journal j)";
        let logged = self.archive.ask(logged).await.to_string();
        self.look("the journal", &logged, &BTreeSet::new());
    }
}

/// Plays a run; what leaked, if anything did, and how many questions were answered.
async fn play(seed: u64, fault: Option<&str>) -> (Option<String>, i64) {
    let mut run = CanaryRun::new(seed).await;
    if let Some(fault) = fault {
        run.archive.run(fault).await;
    }
    for _ in 0..STEPS {
        run.step().await;
        if run.leak.is_some() {
            break;
        }
    }
    (run.leak.take(), run.archive.count("audit.qa_turns where status = 'answered'").await)
}

const SEEDS: [u64; 4] = [1, 14, 2026, 4711];

#[tokio::test]
async fn nothing_that_is_found_answered_cited_sent_or_logged_has_a_word_that_its_audience_may_not_see() {
    let mut answered = 0;
    for seed in SEEDS {
        let (leak, questions) = play(seed, None).await;
        assert_eq!(leak, None, "seed {seed}");
        answered += questions;
    }
    assert!(answered > 10, "only {answered} questions were answered: the runs prove nothing");
}

#[tokio::test]
async fn without_the_rule_of_audiences_the_same_runs_leak() {
    let fault = "create or replace function knowledge.audience_chats(
                     p_workspace_id uuid, p_user_id bigint, p_chat_id bigint, p_channel text
                 ) returns bigint[] language sql stable as $$
                     select coalesce(array_agg(distinct d.chat_id), '{}') from content.documents d where d.workspace_id = p_workspace_id
                 $$";
    for seed in SEEDS {
        let (leak, _) = play(seed, Some(fault)).await;
        assert!(leak.is_some(), "seed {seed} did not notice");
    }
}
