"""google-genai against the Gemini simulator."""

import asyncio
import json

from checks import BASE, check, check_error, control, report
from google import genai
from google.genai import types
from google.genai.errors import ClientError, ServerError

EMBEDDING = "gemini-embedding-001"
FLASH = "gemini-2.5-flash"


def new_client(key):
    # No retries: each check is about one answer.
    options = types.HttpOptions(
        base_url=f"{BASE}/gemini", timeout=60_000, retry_options=types.HttpRetryOptions(attempts=1)
    )
    return genai.Client(api_key=key, http_options=options, vertexai=False)


async def main():
    # The client is named: it closes its connections when nobody holds it any more.
    client = new_client("AIza-genai")
    models = client.aio.models
    await embeddings(models)
    await answers(models)
    await streams(models)
    await errors(models)
    report("all of it ran", True)


async def embeddings(models):
    await check(
        "a text is embedded",
        models.embed_content(model=EMBEDDING, contents="Delivery takes two days"),
        lambda found: len(found.embeddings) == 1 and len(found.embeddings[0].values) == 3072,
    )
    config = types.EmbedContentConfig(task_type="RETRIEVAL_DOCUMENT", title="Terms", output_dimensionality=768)
    await check(
        "the dimensions and the task are understood",
        models.embed_content(model=EMBEDDING, contents="Delivery takes two days", config=config),
        lambda found: len(found.embeddings[0].values) == 768,
    )
    hundred = [f"text {number}" for number in range(100)]
    await check(
        "a batch of 100 is embedded in order",
        models.embed_content(model=EMBEDDING, contents=hundred),
        lambda found: len(found.embeddings) == 100 and found.embeddings[0].values != found.embeddings[99].values,
    )
    await check_error(
        "101 are refused",
        models.embed_content(model=EMBEDDING, contents=[*hundred, "one more"]),
        ClientError,
        lambda error: error.code == 400 and error.status == "INVALID_ARGUMENT",
    )


async def answers(models):
    prompt = "[1] We open at nine.\n[2] Delivery takes two days.\n\nQuestion: How long does delivery take?"
    await check(
        "an answer is read with its usage",
        models.generate_content(model=FLASH, contents=prompt),
        lambda found: found.text == "Delivery takes two days. [2]"
        and found.candidates[0].finish_reason == types.FinishReason.STOP
        and found.usage_metadata.total_token_count > found.usage_metadata.prompt_token_count,
    )
    schema = {
        "type": "OBJECT",
        "properties": {"answer": {"type": "STRING"}, "sources": {"type": "ARRAY", "items": {"type": "INTEGER"}}},
    }
    config = types.GenerateContentConfig(
        system_instruction="Answer from the sources.",
        temperature=0,
        max_output_tokens=500,
        response_mime_type="application/json",
        response_schema=schema,
    )
    await check(
        "JSON of a schema is parsed",
        models.generate_content(model=FLASH, contents=prompt, config=config),
        lambda found: json.loads(found.text)["sources"] == [2] and found.parsed["sources"] == [2],
    )
    control("answers", {"provider": "gemini", "blocked": "SAFETY"})
    await check(
        "a blocked prompt is told apart",
        models.generate_content(model=FLASH, contents="x"),
        lambda found: not found.candidates and found.prompt_feedback.block_reason == types.BlockedReason.SAFETY,
    )
    control("answers", {"provider": "gemini", "finish": "MAX_TOKENS"})
    await check(
        "an answer without text is understood",
        models.generate_content(model=FLASH, contents="x"),
        lambda found: found.text is None and found.candidates[0].finish_reason == types.FinishReason.MAX_TOKENS,
    )
    await check(
        "tokens are counted", models.count_tokens(model=FLASH, contents="x" * 40), lambda found: found.total_tokens == 10
    )
    await check(
        "a model is described",
        models.get(model=FLASH),
        lambda found: found.name == f"models/{FLASH}" and "generateContent" in found.supported_actions,
    )


async def streams(models):
    text = "A long sentence that does not fit into one piece of a stream but into several of them."

    async def collect():
        stream = await models.generate_content_stream(model=FLASH, contents=text)
        return [chunk async for chunk in stream]

    await check(
        "a stream is read piece by piece",
        collect(),
        lambda chunks: len(chunks) > 2
        and "".join(chunk.text for chunk in chunks) == text
        and chunks[-1].candidates[0].finish_reason == types.FinishReason.STOP,
    )


async def errors(models):
    await check_error(
        "an unknown model is not found",
        models.embed_content(model="text-embedding-004", contents="x"),
        ClientError,
        lambda error: error.code == 404 and error.status == "NOT_FOUND",
    )
    control("faults", {"provider": "gemini", "status": 429, "retry_after": 31})
    await check_error(
        "a quota tells its pause",
        models.generate_content(model=FLASH, contents="x"),
        ClientError,
        lambda error: error.status == "RESOURCE_EXHAUSTED" and '"31s"' in json.dumps(error.details),
    )
    control("faults", {"provider": "gemini", "status": 503})
    await check_error(
        "an overload is a server error",
        models.generate_content(model=FLASH, contents="x"),
        ServerError,
        lambda error: error.status == "UNAVAILABLE",
    )
    control("tokens", {"provider": "gemini", "token": "AIza-revoked", "valid": False})
    revoked = new_client("AIza-revoked")
    await check_error(
        "a bad key is refused",
        revoked.aio.models.generate_content(model=FLASH, contents="x"),
        ClientError,
        lambda error: error.code == 400 and "API key not valid" in error.message,
    )


asyncio.run(main())
