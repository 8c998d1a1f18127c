"""Chat completions as callers log them: request and response under any wrapper keys, or the response alone."""

from ingest.formats import Format
from ingest.shapes.pairs import read, sniffer

OPENAI_CHAT = Format(
    name="openai-chat",
    title="OpenAI chat completions, request and response pairs (JSON Lines)",
    sniff=sniffer("openai-chat"),
    read=read,
    recognised="objects with `choices` that hold messages, under any wrapper keys, with or without the request",
    carries="exact text, reasoning, raw arguments, tools, finish reason, models, usage, time, engine by fingerprint",
    lacks="the session unless the wrapper names it (history tells runs and retries); chat template and tool parser; "
    "tools where the request is not logged",
    better="log the whole request beside the whole response, and a session id beside both",
    generic=1,
    example="""\
{"request":{"model":"m","messages":[{"role":"user","content":"what is here?"}],"tools":[{"type":"function",\
"function":{"name":"ls","parameters":{"type":"object"}}}]},"response":{"id":"chatcmpl-1","created":1796000000,\
"model":"m-1","object":"chat.completion","choices":[{"index":0,"message":{"role":"assistant","content":null,\
"tool_calls":[{"id":"call_a","type":"function","function":{"name":"ls","arguments":"{}"}}]},\
"finish_reason":"tool_calls"}],"usage":{"prompt_tokens":30,"completion_tokens":5,"total_tokens":35}}}
{"request":{"model":"m","messages":[{"role":"user","content":"what is here?"},{"role":"assistant",\
"content":null,"tool_calls":[{"id":"call_a","type":"function","function":{"name":"ls","arguments":"{}"}}]},\
{"role":"tool",\
"tool_call_id":"call_a","content":"a.txt"}]},"response":{"id":"chatcmpl-2","created":1796000002,"model":"m-1",\
"object":"chat.completion","choices":[{"index":0,"message":{"role":"assistant","content":"One file, a.txt."},\
"finish_reason":"stop"}]}}
""",
)
