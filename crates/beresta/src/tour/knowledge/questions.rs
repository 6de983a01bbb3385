//! The tour of answers: five questions in the group and two in private, in Russian, each with the source that it must name; one has no answer.

use std::time::Instant;

use anyhow::{Result, ensure};
use serde_json::{Value, json};

use super::{KnowledgeGuest, PATIENCE, TourReport};

/// A question, and what its answer must say.
struct TourQuestion {
    claim: &'static str,
    asked: &'static str,
    by: TourAsker,
    expected: Option<ExpectedAnswer>,
}

#[derive(Clone, Copy)]
enum TourAsker {
    Member,
    Admin,
    MemberInPrivate,
}

/// Words of the answer, and a field of its first source with what is in it.
struct ExpectedAnswer {
    words: &'static str,
    field: &'static str,
    source: &'static str,
}

const fn said(words: &'static str, author: &'static str) -> ExpectedAnswer {
    ExpectedAnswer { words, field: "author", source: author }
}

const QUESTIONS: [TourQuestion; 7] = [
    TourQuestion {
        claim: "a question in the group is answered with its source",
        asked: "договорились, с какого числа бесплатная доставка?",
        by: TourAsker::Member,
        expected: Some(said("3000", "Игорь Белов")),
    },
    TourQuestion {
        claim: "… in other words than it was said in",
        asked: "когда переезжаем на новый склад?",
        by: TourAsker::Admin,
        expected: Some(said("14 ноября", "Анна Орлова")),
    },
    TourQuestion {
        claim: "… with a slip of the keyboard",
        asked: "сколько дней принимаем взвраты, нужен ли чек?",
        by: TourAsker::Member,
        expected: Some(said("14 дней", "Игорь Белов")),
    },
    TourQuestion {
        claim: "… from a page that was linked",
        asked: "есть ли электричество у стенда и удлинители?",
        by: TourAsker::Admin,
        expected: Some(ExpectedAnswer {
            words: "удлинители нужно привезти", field: "url", source: "/web/rules-"
        }),
    },
    TourQuestion {
        claim: "a question that nothing answers is refused, and cites nothing",
        asked: "кто выиграл чемпионат мира по хоккею?",
        by: TourAsker::Member,
        expected: None,
    },
    TourQuestion {
        claim: "a member asks in private, and hears what the group shared",
        asked: "сколько стоит лукошко плетёное?",
        by: TourAsker::MemberInPrivate,
        expected: Some(ExpectedAnswer { words: "Лукошко плетёное", field: "file_name", source: "price-list.pdf" }),
    },
    TourQuestion {
        claim: "… as it is after an edit",
        asked: "во сколько сбор у склада?",
        by: TourAsker::MemberInPrivate,
        expected: Some(said("в восемь", "Анна Орлова")),
    },
];

/// The number of the first question among the messages of a run.
const FIRST: i64 = 10;

pub(super) async fn play(guest: &KnowledgeGuest<'_>, report: &mut TourReport) {
    for (at, question) in (FIRST..).zip(&QUESTIONS) {
        report.check(question.claim, ask(guest, at, question)).await;
    }
}

async fn ask(guest: &KnowledgeGuest<'_>, at: i64, question: &TourQuestion) -> Result<String> {
    let started = Instant::now();
    let credentials = &guest.tour.credentials.knowledge;
    let (text, chat) = match question.by {
        TourAsker::MemberInPrivate => (question.asked.to_owned(), credentials.member_id),
        TourAsker::Member | TourAsker::Admin => (format!("/ask {}", question.asked), credentials.group_chat_id),
    };
    let mut body = guest.message(at, &json!({ "text": text }));
    if matches!(question.by, TourAsker::Admin) {
        body["from"] = json!({ "id": credentials.admin_id, "is_bot": false, "first_name": "Игорь", "last_name": "Белов" });
    }
    if matches!(question.by, TourAsker::MemberInPrivate) {
        body["chat"] = json!({ "id": chat, "type": "private", "first_name": "Анна", "last_name": "Орлова" });
    }
    guest.deliver(json!({ "update_id": guest.first * 10 + at, "message": body })).await?;
    let turn = told(guest, chat, guest.number(at)).await?;
    let answer = turn["answer_text"].as_str().unwrap_or_default();
    let Some(expected) = &question.expected else {
        ensure!(turn["status"] == "refused" && turn["sources"] == json!([]), "it was answered: {answer}");
        return Ok(format!("“{}” → “{answer}”", question.asked));
    };
    let source = turn["sources"][0][expected.field].as_str().unwrap_or_default();
    ensure!(answer.contains(expected.words), "“{}” was answered with “{answer}”", question.asked);
    ensure!(source.contains(expected.source), "the first source is {}", turn["sources"][0]);
    let line = answer.lines().next().unwrap_or_default();
    Ok(format!("“{}” → “{line}”, {source}, told in {} ms", question.asked, started.elapsed().as_millis()))
}

/// The turn of a message, once its answer was told in the chat.
async fn told(guest: &KnowledgeGuest<'_>, chat: i64, message: i64) -> Result<Value> {
    let started = Instant::now();
    loop {
        let turn: Option<Value> = sqlx::query_scalar(
            "select jsonb_build_object('status', t.status, 'answer_text', t.answer_text, 'sources', coalesce((
                        select jsonb_agg(c.source_ref order by c.rank) from audit.qa_citations c
                         where (c.workspace_id, c.turn_id) = (t.workspace_id, t.id)), '[]'))
               from audit.qa_turns t
               join tg.messages m on (m.workspace_id, m.id) = (t.workspace_id, t.question_message_fk)
              where (m.workspace_id, m.chat_id, m.message_id) = ($1, $2, $3) and t.status <> 'asked'
                and exists (select from knowledge.replies r where (r.workspace_id, r.turn_id) = (t.workspace_id, t.id))
                and not exists (select from knowledge.replies r
                                 where (r.workspace_id, r.turn_id) = (t.workspace_id, t.id) and r.status <> 'sent')",
        )
        .bind(guest.tour.credentials.workspace_id.uuid())
        .bind(chat)
        .bind(i32::try_from(message)?)
        .fetch_optional(guest.tour.app.db.pool())
        .await?;
        if let Some(turn) = turn {
            return Ok(turn);
        }
        ensure!(started.elapsed() < PATIENCE, "the answer did not come in time");
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
}
