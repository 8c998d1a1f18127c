"""Small requests, responses and streams of every API that is read, each in its own shape."""

from typing import Any

Object = dict[str, Any]

SCHEMA = {"type": "object"}
CHAT_TOOL = {"type": "function", "function": {"name": "ls", "parameters": SCHEMA}}

REQUESTS: dict[str, Object] = {
    "openai-chat": {"model": "m", "messages": [{"role": "user", "content": "hi"}], "tools": [CHAT_TOOL]},
    "openai-responses": {
        "model": "m",
        "input": "hi",
        "tools": [{"type": "function", "name": "ls", "parameters": SCHEMA}],
    },
    "anthropic-messages": {
        "model": "m",
        "max_tokens": 9,
        "system": "s",
        "messages": [{"role": "user", "content": "hi"}],
        "tools": [{"name": "ls", "input_schema": SCHEMA}],
    },
    "gemini": {
        "contents": [{"role": "user", "parts": [{"text": "hi"}]}],
        "tools": [{"functionDeclarations": [{"name": "ls", "parameters": SCHEMA}]}],
    },
    "ollama-chat": {
        "model": "m",
        "messages": [{"role": "user", "content": "hi"}],
        "tools": [CHAT_TOOL],
        "options": {"num_ctx": 9},
    },
    "bedrock-converse": {
        "messages": [{"role": "user", "content": [{"text": "hi"}]}],
        "toolConfig": {"tools": [{"toolSpec": {"name": "ls", "inputSchema": {"json": SCHEMA}}}]},
    },
}

RESPONSES: dict[str, Object] = {
    "openai-chat": {
        "id": "x",
        "object": "chat.completion",
        "model": "m-1",
        "choices": [
            {
                "index": 0,
                "message": {
                    "role": "assistant",
                    "content": "ab",
                    "reasoning_content": "r",
                    "tool_calls": [
                        {"id": "c", "type": "function", "function": {"name": "ls", "arguments": '{"a": 1}'}}
                    ],
                },
                "finish_reason": "stop",
            }
        ],
        "usage": {"prompt_tokens": 3, "completion_tokens": 2},
    },
    "openai-responses": {
        "id": "x",
        "object": "response",
        "status": "completed",
        "model": "m-1",
        "output": [
            {"type": "reasoning", "id": "rs", "summary": [], "content": [{"type": "reasoning_text", "text": "r"}]},
            {
                "type": "message",
                "id": "msg",
                "role": "assistant",
                "content": [{"type": "output_text", "text": "ab", "annotations": []}],
            },
            {"type": "function_call", "id": "fc", "call_id": "c", "name": "ls", "arguments": '{"a": 1}'},
        ],
        "usage": {"input_tokens": 3, "output_tokens": 2},
    },
    "anthropic-messages": {
        "id": "x",
        "type": "message",
        "role": "assistant",
        "model": "m-1",
        "content": [
            {"type": "thinking", "thinking": "r", "signature": "s"},
            {"type": "text", "text": "ab"},
            {"type": "tool_use", "id": "c", "name": "ls", "input": {"a": 1}},
        ],
        "stop_reason": "tool_use",
        "stop_sequence": None,
        "usage": {"input_tokens": 3, "output_tokens": 2},
    },
    "gemini": {
        "responseId": "x",
        "modelVersion": "m-1",
        "candidates": [
            {
                "content": {
                    "role": "model",
                    "parts": [
                        {"text": "r", "thought": True},
                        {"text": "ab"},
                        {"functionCall": {"id": "c", "name": "ls", "args": {"a": 1}}},
                    ],
                },
                "finishReason": "STOP",
            }
        ],
        "usageMetadata": {"promptTokenCount": 3, "candidatesTokenCount": 2},
    },
    "ollama-chat": {
        "model": "m-1",
        "created_at": "2026-11-30T12:00:00Z",
        "message": {
            "role": "assistant",
            "content": "ab",
            "thinking": "r",
            "tool_calls": [{"id": "c", "function": {"name": "ls", "arguments": {"a": 1}}}],
        },
        "done": True,
        "done_reason": "stop",
        "prompt_eval_count": 3,
        "eval_count": 2,
    },
    "bedrock-converse": {
        "output": {
            "message": {
                "role": "assistant",
                "content": [
                    {"reasoningContent": {"reasoningText": {"text": "r"}}},
                    {"text": "ab"},
                    {"toolUse": {"toolUseId": "c", "name": "ls", "input": {"a": 1}}},
                ],
            }
        },
        "stopReason": "tool_use",
        "usage": {"inputTokens": 3, "outputTokens": 2},
    },
}


def chunk(delta: Object | None = None, *, id_: Any = "x", finish: str | None = None, index: int = 0) -> Object:
    """A chunk of a chat completion."""
    choice = {"index": index, "delta": delta or {}, "finish_reason": finish}
    return {"id": id_, "object": "chat.completion.chunk", "model": "m-1", "choices": [choice]}


def call(**function: Any) -> Object:
    """A delta with one fragment of a call."""
    outer = {key: function.pop(key) for key in ("index", "id") if key in function}
    return {"tool_calls": [{**outer, "function": function}]}


USAGE = {"prompt_tokens": 3, "completion_tokens": 2}
_PART = {"model": "m-1", "created_at": "2026-11-30T12:00:00Z", "done": False}

STREAMS: dict[str, list[Object]] = {
    "openai-chat": [
        chunk({"role": "assistant", "content": ""}),
        chunk({"reasoning_content": "r"}),
        chunk({"content": "a"}),
        chunk({"content": "b"}),
        chunk(call(index=0, id="c", name="ls", arguments="")),
        chunk(call(index=0, arguments='{"a"')),
        chunk(call(index=0, arguments=": 1}")),
        chunk(finish="stop"),
        {**chunk(), "choices": [], "usage": USAGE},
    ],
    "openai-responses": [
        {
            "type": "response.created",
            "response": {**RESPONSES["openai-responses"], "status": "in_progress", "output": []},
        },
        *(
            {"type": f"response.output_item.{what}", "output_index": index, "item": item}
            for index, item in enumerate(RESPONSES["openai-responses"]["output"])
            for what in ("added", "done")
        ),
        {"type": "response.completed", "response": RESPONSES["openai-responses"]},
    ],
    "anthropic-messages": [
        {"type": "message_start", "message": {**RESPONSES["anthropic-messages"], "content": [], "stop_reason": None}},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "thinking", "thinking": ""}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "thinking_delta", "thinking": "r"}},
        {"type": "content_block_stop", "index": 0},
        {"type": "content_block_start", "index": 1, "content_block": {"type": "text", "text": ""}},
        {"type": "content_block_delta", "index": 1, "delta": {"type": "text_delta", "text": "a"}},
        {"type": "content_block_delta", "index": 1, "delta": {"type": "text_delta", "text": "b"}},
        {
            "type": "content_block_start",
            "index": 2,
            "content_block": {"type": "tool_use", "id": "c", "name": "ls", "input": {}},
        },
        {"type": "content_block_delta", "index": 2, "delta": {"type": "input_json_delta", "partial_json": '{"a"'}},
        {"type": "content_block_delta", "index": 2, "delta": {"type": "input_json_delta", "partial_json": ": 1}"}},
        {"type": "content_block_stop", "index": 2},
        {"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {"output_tokens": 2}},
        {"type": "message_stop"},
    ],
    "gemini": [
        {
            "responseId": "x",
            "modelVersion": "m-1",
            "candidates": [{"content": {"parts": parts, "role": "model"}, **end}],
        }
        for parts, end in (
            ([{"text": "r", "thought": True}], {}),
            ([{"text": "a"}], {}),
            ([{"text": "b"}], {}),
            ([{"functionCall": {"id": "c", "name": "ls", "args": {"a": 1}}}], {"finishReason": "STOP"}),
        )
    ],
    "ollama-chat": [
        {**_PART, "message": {"role": "assistant", "content": "", "thinking": "r"}},
        {**_PART, "message": {"role": "assistant", "content": "a"}},
        {**_PART, "message": {"role": "assistant", "content": "b"}},
        {
            **RESPONSES["ollama-chat"],
            "message": {
                "role": "assistant",
                "content": "",
                "tool_calls": [{"id": "c", "function": {"name": "ls", "arguments": {"a": 1}}}],
            },
        },
    ],
    "bedrock-converse": [
        {"messageStart": {"role": "assistant"}},
        {"contentBlockDelta": {"contentBlockIndex": 0, "delta": {"reasoningContent": {"text": "r"}}}},
        {"contentBlockDelta": {"contentBlockIndex": 1, "delta": {"text": "a"}}},
        {"contentBlockDelta": {"contentBlockIndex": 1, "delta": {"text": "b"}}},
        {"contentBlockStart": {"contentBlockIndex": 2, "start": {"toolUse": {"toolUseId": "c", "name": "ls"}}}},
        {"contentBlockDelta": {"contentBlockIndex": 2, "delta": {"toolUse": {"input": '{"a": 1}'}}}},
        {"messageStop": {"stopReason": "tool_use"}},
        {"metadata": {"usage": {"inputTokens": 3, "outputTokens": 2}}},
    ],
}
