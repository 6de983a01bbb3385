-- Two journals, because neither is ever changed: the request is written before the work, in a transaction of its own, and what came of it
-- after. A process that is killed between them leaves a request without a response, and that is the truth.
create table planner.mcp_requests (
    workspace_id uuid not null,
    ts           timestamptz not null default platform.now(),
    request_id   uuid not null,
    person_id    bigint not null,
    token_id     uuid not null,
    tool_name    text not null constraint request_tool_short check (char_length(tool_name) between 1 and 200),
    request_body jsonb not null,
    primary key (workspace_id, ts, request_id)
) partition by range (ts);
comment on table planner.mcp_requests is 'Every call of a tool as it came, redacted.';
create index requests_by_id on planner.mcp_requests (workspace_id, request_id);
create index requests_by_person on planner.mcp_requests (workspace_id, person_id, ts);
create table planner.mcp_requests_default partition of planner.mcp_requests default;

create table planner.mcp_responses (
    workspace_id      uuid not null,
    request_id        uuid not null,
    ts                timestamptz not null default platform.now(),
    response_body     jsonb,
    execution_time_ms int not null constraint response_time_not_negative check (execution_time_ms >= 0),
    error_message     text,
    primary key (workspace_id, request_id, ts)
) partition by range (ts);
comment on table planner.mcp_responses is 'What was answered to a call, redacted, and how long it took.';
create table planner.mcp_responses_default partition of planner.mcp_responses default;

insert into platform.journals values ('planner.mcp_requests', 'week', '90 days'), ('planner.mcp_responses', 'week', '90 days');
select platform.append_only('planner.mcp_requests'), platform.append_only('planner.mcp_responses');
select platform.protect('planner.mcp_requests'), platform.protect('planner.mcp_responses');

create view planner.mcp_request_log with (security_invoker = true) as
    select q.request_id, q.tool_name, q.request_body, r.response_body, r.execution_time_ms, r.error_message,
           q.workspace_id, q.person_id, q.token_id, q.ts as created_at
      from planner.mcp_requests q left join planner.mcp_responses r using (workspace_id, request_id);
comment on view planner.mcp_request_log is 'MCPRequestLog of the specification: calls with what came of them. Without a response: still running, or the process was killed.';
