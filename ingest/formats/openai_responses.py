"""OpenAI's Responses API as callers log it: request and response under any wrapper keys, or the response alone."""

from ingest.formats import Format
from ingest.shapes.pairs import read, sniffer

OPENAI_RESPONSES = Format(
    name="openai-responses",
    title="OpenAI Responses API, request and response pairs (JSON Lines)",
    sniff=sniffer("openai-responses"),
    read=read,
    recognised="objects with `object: response` and `output` items, under any wrapper keys, with or without the "
    "request",
    carries="exact text, reasoning or its summary, raw arguments, tools (the response repeats them), models, usage, "
    "time",
    lacks="a finish reason: it is inferred from the status and the items; encrypted reasoning; the history behind "
    "`previous_response_id`, which is followed to its run within one file",
    better="log the whole request beside the whole response, and a session id beside both",
    generic=1,
    example="""\
{"request":{"model":"m","input":"what is here?","tools":[{"type":"function","name":"ls",\
"parameters":{"type":"object"}}]},\
"response":{"id":"resp_1","object":"response","created_at":1796000000,"status":"completed","model":"m-1","output":[\
{"type":"function_call","id":"fc_1","call_id":"call_a","name":"ls","arguments":"{}","status":"completed"}],\
"usage":{"input_tokens":30,"output_tokens":5}}}
{"request":{"model":"m","previous_response_id":"resp_1","input":[{"type":"function_call_output","call_id":"call_a",\
"output":"a.txt"}]},"response":{"id":"resp_2","object":"response","created_at":1796000002,"status":"completed",\
"model":"m-1","previous_response_id":"resp_1","output":[{"type":"message","id":"msg_1","role":"assistant","content":[\
{"type":"output_text","text":"One file, a.txt.","annotations":[]}]}]}}
""",
)
