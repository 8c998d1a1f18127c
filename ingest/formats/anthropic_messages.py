"""Anthropic's Messages API as callers log it: request and response under any wrapper keys, or the response alone."""

from ingest.formats import Format
from ingest.shapes.pairs import read, sniffer

ANTHROPIC_MESSAGES = Format(
    name="anthropic-messages",
    title="Anthropic Messages API, request and response pairs (JSON Lines)",
    sniff=sniffer("anthropic-messages"),
    read=read,
    recognised="replies with `role: assistant`, a list of `content` blocks and `stop_reason`, under any wrapper keys",
    carries="exact text, thinking, calls with their input as an object, tools, stop reason, models, usage",
    lacks="raw arguments (streams have them) and the time, unless the wrapper tells one; the engine; tools where the "
    "request is not logged",
    better="log the whole request beside the whole response, with a time and a session id, or the events of the stream",
    generic=1,
    example="""\
{"ts":"2026-11-30T12:00:00Z","request":{"model":"m","max_tokens":100,"messages":[{"role":"user",\
"content":"what is here?"}],\
"tools":[{"name":"ls","input_schema":{"type":"object"}}]},"response":{"id":"msg_1","type":"message","role":"assistant",\
"model":"m-1","content":[{"type":"text","text":"I look."},{"type":"tool_use","id":"toolu_a","name":"ls","input":{}}],\
"stop_reason":"tool_use","stop_sequence":null,"usage":{"input_tokens":30,"output_tokens":5}}}
{"ts":"2026-11-30T12:00:02Z","request":{"model":"m","max_tokens":100,"system":"Be brief.",\
"messages":[{"role":"user","content":"hello"}]},\
"response":{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}}
""",
)
