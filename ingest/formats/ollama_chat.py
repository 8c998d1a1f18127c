"""Ollama's chat API as callers log it: request and reply under any wrapper keys, or the whole reply alone."""

from ingest.formats import Format
from ingest.shapes.pairs import read, sniffer

OLLAMA_CHAT = Format(
    name="ollama-chat",
    title="Ollama /api/chat, request and reply pairs (JSON Lines)",
    sniff=sniffer("ollama-chat"),
    read=read,
    recognised="replies with `model`, `message` and `done: true`, under any wrapper keys; streamed parts are "
    "response-streams",
    carries="exact text, thinking, calls with their arguments as an object, tools, reason for being done, model, "
    "usage, time",
    lacks="raw arguments, the version of Ollama, call ids in older versions; tools where the request is not logged",
    better="log the whole request beside the whole reply, and a session id beside both",
    generic=1,
    example="""\
{"request":{"model":"m","messages":[{"role":"user","content":"what is here?"}],"stream":false,\
"options":{"num_ctx":8192},\
"tools":[{"type":"function","function":{"name":"ls","parameters":{"type":"object"}}}]},"response":{"model":"m",\
"created_at":"2026-11-30T12:00:00.5Z","message":{"role":"assistant","content":"","thinking":"Look.","tool_calls":[\
{"function":{"name":"ls","arguments":{}}}]},"done":true,"done_reason":"stop","prompt_eval_count":30,"eval_count":5}}
{"model":"m","created_at":"2026-11-30T12:00:02Z","message":{"role":"assistant","content":"One file."},"done":true,\
"done_reason":"stop"}
""",
)
