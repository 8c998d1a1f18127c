"""Amazon Bedrock's Converse API as callers and its invocation log have it, under any wrapper keys."""

from ingest.formats import Format
from ingest.shapes.pairs import read, sniffer

BEDROCK_CONVERSE = Format(
    name="bedrock-converse",
    title="Amazon Bedrock Converse, request and reply pairs (JSON Lines)",
    sniff=sniffer("bedrock-converse"),
    read=read,
    recognised="objects with `output.message` and `stopReason`, under any wrapper keys, with or without the request",
    carries="exact text, reasoning, calls with their input as an object, tools, stop reason, usage; model and time "
    "of the "
    "invocation log",
    lacks="raw arguments; bodies that the log keeps in S3 beside itself; the engine",
    better="turn on the delivery of text data in the invocation log, and log whole bodies",
    generic=1,
    example="""\
{"timestamp":"2026-11-30T12:00:00Z","modelId":"m","input":{"inputBodyJson":{"messages":[{"role":"user",\
"content":[{"text":\
"what is here?"}]}],"toolConfig":{"tools":[{"toolSpec":{"name":"ls","inputSchema":{"json":{"type":"object"}}}}]}}},\
"output":{"outputBodyJson":{"output":{"message":{"role":"assistant","content":[{"toolUse":{"toolUseId":"t1",\
"name":"ls",\
"input":{}}}]}},"stopReason":"tool_use","usage":{"inputTokens":30,"outputTokens":5}}}}
{"output":{"message":{"role":"assistant","content":[{"text":"One file."}]}},"stopReason":"end_turn"}
""",
)
