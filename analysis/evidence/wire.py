"""The words of the wire: closers, openings, tokens and ends of message of all families, as patterns."""

_NS = r"(?:[a-z]{1,16}[:_]|[|｜]{1,2}DSML[|｜]{1,2}(?:r:)?)?"
_PARTS = r"parameter|param|function|tool_calls?|invoke|arg_value|arg_key|function_calls?|TOOLCALL|tool_response"
CLOSER = rf"</{_NS}(?:{_PARTS})>"
"""The closing tag of a call or of a part of one."""
OPENER = (
    rf"<{_NS}(?:parameter(?:=[\w-]{{1,64}}|\s+name=\"[\w-]{{1,64}}\")|param\s+name=\"[\w-]{{1,64}}\"|"
    r"arg_(?:key|value)|tool_calls?|function=[\w.:-]{1,64}|invoke\s+name=\"[\w.:-]{1,64}\")>"
)
"""The opening tag of a call or of a part of one."""
_TOOL_TOKENS = (
    r"tool_call_end|tool_call_begin|tool_calls?_section_(?:end|begin)|call|end|channel|message|constrain|"
    r"tool_call_argument_begin|\"\|?|python_(?:start|end|tag)|(?:START|END)_ACTION|action_(?:start|end)|"
    r"tools_(?:prefix|suffix)|/tool_call|close|sep|end_message|tool_call_start"
)
TOKEN = (
    r"<\|close\|>(?:argument|call|tools)<\|sep\|>|"
    rf"<\|(?:{_TOOL_TOKENS})\|?>|<[|｜]tool[▁_](?:calls?[▁_](?:begin|end)|sep)[|｜]>|<tool_call\|>|<\|tool_call>|"
    r"<end_function_call>|<end_of_tool_call(?::\w{1,32})?>|</?[|｜]DSML[|｜]\w+>?|\[/?TOOL_CALLS\]|\[ARGS\]|"
    r"\[END_TOOL_REQUEST\]|\]<\]minimax\[>\["
)
"""A token that frames calls."""
DEBRIS = rf"{CLOSER}|{OPENER}|{TOKEN}"
MESSAGE_END = (
    r"<\|(?:im_end|eot_id|eom_id|eot|endoftext|end_of_text|return|observation|END_OF_TURN_TOKEN)\|>|"
    r"<[|｜]end[▁_]of[▁_]sentence[|｜]>|<end_of_turn>|</s>"
)
"""What ends a message. Templates hold it on purpose, and then its opening too."""
