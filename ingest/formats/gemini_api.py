"""Google's generateContent as callers log it: request and response under any wrapper keys, or the response alone."""

from ingest.formats import Format
from ingest.shapes.pairs import read, sniffer

GEMINI_API = Format(
    name="gemini-api",
    title="Google Gemini generateContent, request and response pairs (JSON Lines)",
    sniff=sniffer("gemini"),
    read=read,
    recognised="objects with `candidates` of `content` parts and a finish reason, under any wrapper keys, in the "
    "spelling "
    "of the wire or of the Python SDK",
    carries="exact text, thoughts, calls with their arguments as an object, tools, finish reason as it came "
    "(MALFORMED_FUNCTION_CALL too, with its message), model version, usage",
    lacks="raw arguments, the engine; tools where the request is not logged",
    better="log the whole request beside the whole response, with a time and a session id",
    generic=1,
    example="""\
{"request":{"contents":[{"role":"user","parts":[{"text":"what is here?"}]}],\
"tools":[{"functionDeclarations":[{"name":"ls",\
"parameters":{"type":"OBJECT"}}]}]},"response":{"candidates":[{"index":0,"content":{"role":"model","parts":[\
{"functionCall":{"name":"ls","args":{}}}]},"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":30,\
"candidatesTokenCount":5},"modelVersion":"m-1","responseId":"r1"}}
{"request":{"contents":[{"role":"user","parts":[{"text":"and now?"}]}]},\
"response":{"candidates":[{"content":{"role":"model",\
"parts":[{"text":"Think.","thought":true},{"text":"One file."}]},"finishReason":"STOP"}],"modelVersion":"m-1"}}
""",
)
