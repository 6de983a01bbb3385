"""openai against the OpenAI simulator."""

import asyncio
import json

import openai
from checks import BASE, check, check_error, control, report
from openai import AsyncOpenAI

SMALL = "text-embedding-3-small"
CHAT = "gpt-4o-mini"
PROMPT = "[1] We open at nine.\n[2] Delivery takes two days.\n\nQuestion: How long does delivery take?"
SOUND = ("voice.ogg", b"some sound", "audio/ogg")


def new_client(key):
    # No retries: each check is about one answer.
    return AsyncOpenAI(api_key=key, base_url=f"{BASE}/openai/v1", max_retries=0, timeout=60)


async def main():
    client = new_client("sk-openai")
    await embeddings(client)
    await chats(client)
    await streams(client)
    await transcriptions(client)
    await errors(client)
    report("all of it ran", True)


async def embeddings(client):
    found = await check(
        "base64, which the client asks for by itself, is decoded",
        client.embeddings.create(model=SMALL, input=["one", "two"]),
        lambda found: [len(item.embedding) for item in found.data] == [1536, 1536]
        and isinstance(found.data[0].embedding[0], float),
    )
    await check(
        "numbers are the same",
        client.embeddings.create(model=SMALL, input="one", encoding_format="float"),
        lambda plain: max(abs(a - b) for a, b in zip(plain.data[0].embedding, found.data[0].embedding)) < 1e-6,
    )
    await check(
        "the dimensions are understood",
        client.embeddings.create(model=SMALL, input="one", dimensions=256),
        lambda found: len(found.data[0].embedding) == 256 and found.usage.total_tokens == 1,
    )
    await check_error(
        "2049 texts are refused",
        client.embeddings.create(model=SMALL, input=["x"] * 2049),
        openai.BadRequestError,
        lambda error: error.code == "array_above_max_length" and error.param == "input",
    )


def ask(client, prompt, **more):
    return client.chat.completions.create(model=CHAT, messages=[{"role": "user", "content": prompt}], **more)


async def chats(client):
    await check(
        "an answer is read with its usage",
        ask(client, PROMPT),
        lambda found: found.choices[0].message.content == "Delivery takes two days. [2]"
        and found.choices[0].finish_reason == "stop"
        and found.usage.total_tokens > found.usage.prompt_tokens,
    )
    schema = {
        "type": "object",
        "additionalProperties": False,
        "required": ["answer", "sources"],
        "properties": {"answer": {"type": "string"}, "sources": {"type": "array", "items": {"type": "integer"}}},
    }
    wanted = {"type": "json_schema", "json_schema": {"name": "answer", "strict": True, "schema": schema}}
    await check(
        "JSON of a schema is answered",
        ask(client, PROMPT, response_format=wanted),
        lambda found: json.loads(found.choices[0].message.content)["sources"] == [2],
    )
    control("answers", {"provider": "openai", "blocked": "I cannot help with that."})
    await check(
        "a refusal is told apart",
        ask(client, "x"),
        lambda found: found.choices[0].message.content is None and found.choices[0].message.refusal,
    )


async def streams(client):
    text = "A long sentence that does not fit into one piece of a stream but into several of them."

    async def collect():
        return [chunk async for chunk in await ask(client, text, stream=True, stream_options={"include_usage": True})]

    def judge(chunks):
        said = "".join(chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices)
        return said == text and not chunks[-1].choices and chunks[-1].usage.total_tokens > 0

    await check("a stream is read piece by piece with its usage", collect(), judge)


async def transcriptions(client):
    create = client.audio.transcriptions.create
    segments = [
        {"start": 0, "end": 1.5, "text": "Добрый день.", "speaker": "A"},
        {"start": 1.5, "end": 3, "text": "Здравствуйте!", "speaker": "B"},
    ]
    control("transcripts", {"segments": segments, "times": 6})
    text = "Добрый день. Здравствуйте!"
    await check("a text is read", create(model="gpt-4o-transcribe", file=SOUND), lambda found: found.text == text)
    await check(
        "a plain text is read",
        create(model="whisper-1", file=SOUND, response_format="text"),
        lambda found: found.strip() == text,
    )
    await check(
        "segments and words are read",
        create(model="whisper-1", file=SOUND, response_format="verbose_json", timestamp_granularities=["word", "segment"]),
        lambda found: found.segments[1].id == 1 and found.words[0].word == "Добрый" and float(found.duration) == 3,
    )
    await check(
        "subtitles are read",
        create(model="whisper-1", file=SOUND, response_format="srt"),
        lambda found: "00:00:01,500 --> 00:00:03,000" in found,
    )
    diarize = "gpt-4o-transcribe-diarize"
    await check(
        "speakers are read",
        create(model=diarize, file=SOUND, response_format="diarized_json", chunking_strategy="auto"),
        lambda found: [segment.speaker for segment in found.segments] == ["A", "B"] and found.segments[0].id == "seg_001",
    )

    async def collect():
        stream = await create(model="gpt-4o-transcribe", file=SOUND, stream=True)
        return [event async for event in stream]

    await check(
        "a stream of text is read",
        collect(),
        lambda events: events[-1].type == "transcript.text.done" and events[-1].text == text,
    )
    await check_error(
        "speakers without a chunking strategy are refused",
        create(model=diarize, file=SOUND, response_format="diarized_json"),
        openai.BadRequestError,
        lambda error: error.param == "chunking_strategy",
    )
    await check_error(
        "a file of a foreign kind is refused",
        create(model="whisper-1", file=("voice.oga", b"x")),
        openai.BadRequestError,
        lambda error: "Invalid file format" in error.message,
    )


async def errors(client):
    await check(
        "the models are listed", client.models.list(), lambda found: SMALL in [model.id for model in found.data]
    )
    await check_error(
        "an unknown model is not found",
        client.embeddings.create(model="text-embedding-9", input="x"),
        openai.NotFoundError,
        lambda error: error.code == "model_not_found",
    )
    control("faults", {"provider": "openai", "status": 429, "retry_after": 7})
    await check_error(
        "a rate limit tells its pause",
        ask(client, "x"),
        openai.RateLimitError,
        lambda error: error.code == "rate_limit_exceeded" and error.response.headers["retry-after"] == "7",
    )
    control("faults", {"provider": "openai", "drop": "before"})
    await check_error("a dropped connection is a connection error", ask(client, "x"), openai.APIConnectionError)
    control("tokens", {"provider": "openai", "token": "sk-revoked", "valid": False})
    await check_error(
        "a bad key is refused",
        new_client("sk-revoked").models.list(),
        openai.AuthenticationError,
        lambda error: error.code == "invalid_api_key",
    )


asyncio.run(main())
