//! MCP through streams: one message per line, whoever holds the token, until the input ends.

use kernel::{Bundle, Secret};
use planner::mcp::{McpHandler, serve_on};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, Lines, ReadHalf, WriteHalf},
    task::JoinHandle,
};
use tokio_util::sync::CancellationToken;

use super::{PATIENCE, client::Era, stage::Stage, until};

/// The client's ends of the two streams.
struct Pipe {
    era: Era,
    input: WriteHalf<DuplexStream>,
    output: Lines<BufReader<ReadHalf<DuplexStream>>>,
    serving: JoinHandle<Result<(), planner::mcp::StdioError>>,
    next_id: i64,
}

impl Pipe {
    async fn open(stage: &Stage, era: Era, token: &Secret) -> Self {
        let (ours, theirs) = tokio::io::duplex(1 << 20);
        let (reader, writer) = tokio::io::split(theirs);
        let handler = McpHandler::with_token(stage.planner.clone(), token.clone());
        let serving = tokio::spawn(serve_on(handler, reader, writer, CancellationToken::new()));
        let (output, input) = tokio::io::split(ours);
        let mut pipe = Self { era, input, output: BufReader::new(output).lines(), serving, next_id: 1 };
        if era == Era::Legacy {
            let info = json!({ "name": "test", "version": "1" });
            let hello =
                pipe.ask("initialize", json!({ "protocolVersion": era.version(), "capabilities": {}, "clientInfo": info })).await;
            assert_eq!(hello["result"]["protocolVersion"], era.version());
            pipe.write(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" })).await;
        }
        pipe
    }

    async fn write(&mut self, message: &Value) {
        self.input.write_all(format!("{message}\n").as_bytes()).await.unwrap();
    }

    /// The next line, which has to be one whole message.
    async fn read(&mut self) -> Option<Value> {
        let line = tokio::time::timeout(PATIENCE, self.output.next_line()).await.expect("a line in time").unwrap()?;
        Some(serde_json::from_str(&line).unwrap_or_else(|error| panic!("{line}: {error}")))
    }

    async fn ask(&mut self, method: &str, mut params: Value) -> Value {
        if self.era == Era::Modern {
            params["_meta"]["io.modelcontextprotocol/protocolVersion"] = self.era.version().into();
            params["_meta"]["io.modelcontextprotocol/clientCapabilities"] = json!({});
        }
        let id = self.next_id;
        self.next_id += 1;
        self.write(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params })).await;
        loop {
            let message = self.read().await.expect("an answer");
            if message["id"] == id {
                return message;
            }
        }
    }

    async fn call(&mut self, tool: &str, arguments: Value) -> Value {
        self.ask("tools/call", json!({ "name": tool, "arguments": arguments })).await["result"]["structuredContent"].clone()
    }
}

#[tokio::test]
async fn a_whole_session_goes_through_standard_streams() {
    for era in Era::BOTH {
        let stage = Stage::new().await;
        let mut pipe = Pipe::open(&stage, era, &stage.token).await;
        let title = "Две строки\nв одном названии не бывают".replace('\n', " ");
        let preview =
            pipe.call("preview_actions", json!({ "actions": [{ "action": "goal.create", "params": { "title": title } }] })).await;
        let applied = pipe.call("apply_actions", json!({ "preview_id": preview["preview_id"], "idempotency_key": "k" })).await;
        assert_eq!(applied["summary"]["successful"], 1, "{applied}");
        assert_eq!(stage.rows("select title from planner.goals").await, [json!({ "title": title })]);
        let log = stage.rows("select tool_name from planner.mcp_request_log order by created_at, request_id").await;
        assert_eq!(log, [json!({ "tool_name": "preview_actions" }), json!({ "tool_name": "apply_actions" })]);
    }
}

#[tokio::test]
async fn it_ends_with_its_input() {
    let stage = Stage::new().await;
    let mut pipe = Pipe::open(&stage, Era::Legacy, &stage.token).await;
    pipe.input.shutdown().await.unwrap();
    assert!(pipe.read().await.is_none(), "nothing comes after the end");
    tokio::time::timeout(PATIENCE, pipe.serving).await.expect("it ends").unwrap().unwrap();
    let mut silent = Pipe::open(&stage, Era::Modern, &stage.token).await;
    silent.input.shutdown().await.unwrap();
    tokio::time::timeout(PATIENCE, silent.serving).await.expect("it ends").unwrap().unwrap();
}

#[tokio::test]
async fn a_line_that_is_no_message_does_not_hurt_the_next() {
    let stage = Stage::new().await;
    let mut pipe = Pipe::open(&stage, Era::Legacy, &stage.token).await;
    pipe.input.write_all(b"this is not JSON\n\n").await.unwrap();
    assert!(pipe.ask("tools/list", json!({})).await["result"]["tools"].is_array());
}

#[tokio::test]
async fn a_token_that_is_revoked_is_over_at_the_next_call() {
    let stage = Stage::new().await;
    let token = stage.token_of(Some("bob"), &[Bundle::Read]).await;
    let mut pipe = Pipe::open(&stage, Era::Legacy, &token).await;
    assert_eq!(pipe.call("get_xp", json!({})).await["total"], 0);
    let found = platform::tokens::authenticate(stage.test.db.pool(), &token).await.unwrap().unwrap();
    assert!(platform::tokens::revoke(stage.test.db.pool(), stage.workspace, found.token_id).await.unwrap());
    let answer = pipe.ask("tools/call", json!({ "name": "get_xp", "arguments": {} })).await;
    assert!(answer["error"]["message"].as_str().unwrap().contains("revoked"), "{answer}");
}

#[tokio::test]
async fn an_apply_is_cancelled_by_the_word_of_its_client() {
    for era in Era::BOTH {
        let stage = Stage::new().await;
        let mut pipe = Pipe::open(&stage, era, &stage.token).await;
        let actions = json!([{ "action": "goal.create", "params": { "title": "Perhaps" } }]);
        let preview = pipe.call("preview_actions", json!({ "actions": actions })).await;
        let arguments = json!({ "preview_id": preview["preview_id"], "idempotency_key": "k" });
        let mut held = stage.run("begin; lock table planner.goals in access exclusive mode").await;
        let mut params = json!({ "name": "apply_actions", "arguments": arguments });
        if era == Era::Modern {
            params["_meta"]["io.modelcontextprotocol/protocolVersion"] = era.version().into();
            params["_meta"]["io.modelcontextprotocol/clientCapabilities"] = json!({});
        }
        pipe.write(&json!({ "jsonrpc": "2.0", "id": 77, "method": "tools/call", "params": params })).await;
        stage.test.until_waiting(1).await;
        pipe.write(&json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": 77 } })).await;
        // Messages are taken in their order: when this is answered, the word was heard.
        assert!(pipe.ask("tools/list", json!({})).await["result"]["tools"].is_array());
        sqlx::raw_sql("rollback").execute(&mut held).await.unwrap();
        let query =
            "select error_message from planner.mcp_request_log where tool_name = 'apply_actions' and error_message is not null";
        let logged = until("the call is over", async || stage.rows(query).await.pop()).await;
        assert_eq!(logged["error_message"], "The call was cancelled");
        assert_eq!(stage.count("planner.goals").await, 0);
        assert_eq!(pipe.call("apply_actions", arguments).await["summary"]["successful"], 1);
    }
}

#[tokio::test]
async fn an_apply_that_has_begun_when_the_input_ends_is_answered_and_logged() {
    for era in Era::BOTH {
        let stage = Stage::new().await;
        let mut pipe = Pipe::open(&stage, era, &stage.token).await;
        let actions = vec![json!({ "action": "goal.create", "params": { "title": "G" } }); 3];
        let preview = pipe.call("preview_actions", json!({ "actions": actions })).await;
        // It waits in the middle of its work until the input has ended.
        let mut owner = stage.test.owner().await;
        sqlx::raw_sql("begin; lock table planner.goals in exclusive mode").execute(&mut owner).await.unwrap();
        let mut params =
            json!({ "name": "apply_actions", "arguments": { "preview_id": preview["preview_id"], "idempotency_key": "k" } });
        params["_meta"]["progressToken"] = json!("p");
        if era == Era::Modern {
            params["_meta"]["io.modelcontextprotocol/protocolVersion"] = era.version().into();
            params["_meta"]["io.modelcontextprotocol/clientCapabilities"] = json!({});
        }
        pipe.write(&json!({ "jsonrpc": "2.0", "id": 77, "method": "tools/call", "params": params })).await;
        stage.test.until_waiting(1).await;
        pipe.input.shutdown().await.unwrap();
        sqlx::raw_sql("rollback").execute(&mut owner).await.unwrap();
        let answer = loop {
            let message = pipe.read().await.expect("an answer, though the input has ended");
            if message["id"] == 77 {
                break message;
            }
        };
        assert_eq!(answer["result"]["structuredContent"]["summary"]["successful"], 3, "{answer}");
        tokio::time::timeout(PATIENCE, pipe.serving).await.expect("it ends").unwrap().unwrap();
        stage.planner.ended().await;
        let unanswered = "select 1 as one from planner.mcp_request_log where execution_time_ms is null";
        assert!(stage.rows(unanswered).await.is_empty());
    }
}
