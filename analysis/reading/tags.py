"""The tags of calls as elements: what opens one, its parameters, and what closes them.

Namespaces and DeepSeek's DSML prefix are part of a tag's name. All patterns are for folded text.
"""

import re

DSML = r"\s?\|{1,2}\s?DSML\s?\|{1,2}\s?(?:r:)?"
NAMESPACE = rf"(?:[A-Za-z]{{1,16}}:|{DSML}|DSML )"
CALLS = r"(?:function_calls|tool_calls|calls)"

FUNCTION = re.compile(
    r"(?P<lt><)?function(?:=|\s+name\s*=\s*)[\"']?(?P<name>[^\"'<>\s={}]{1,128}+)[\"']?\s*(?:(?P<self>/)?>|(?=<(?:parameter|param)[=\s]))"
)
FUSED = re.compile(
    r"<function=(?P<name>\w{1,128}?)(?:_?b|_)?parameter(?:=|\s+name=)[\"']?(?P<key>[\w.-]{1,128}+)[\"']?>"
)
FUNCTION_NAME = re.compile(
    r"(?:<function>\s*)?<(?P<tag>name|tool_name|function_name|tool)>\s*(?P<name>[^<>\s]{1,128}+)\s*</(?P=tag)>\s*"
)
INVOKE = re.compile(
    rf"(?P<lt><)?(?P<ns>{NAMESPACE})?(?:invoke|tool_use)(?:\s+name\s*=\s*[\"']?(?P<name>[^\"'<>\n=]{{1,128}}?)"
    rf"(?P<noise><\|message\|>)?[\"']?)?\s*(?P<self>/)?(?:>|(?=<(?:{NAMESPACE})?parameter))"
)
LEGACY_NAME = re.compile(r"\s*<tool_name>\s*([^<>\n]{1,128}?)\s*</tool_name>\s*(?:<parameters>)?")
PARAMETER = re.compile(
    rf"<?(?P<ns>{NAMESPACE})?(?:parameter|param)(?:=[\"']?(?P<k1>[^<>\n\"']{{1,128}}?)[\"']?|"
    r"\s+name\s*=\s*[\"']?(?P<k2>[^\"'<>\n]{1,128}?)[\"']?(?P<rest>\s[^<>\n]{0,200})?)\s*>"
)
FUSED_PARAMETER = re.compile(r"<parameter=(?P<key>[\w.-]{1,64})=(?P<value>[^<>\n]{0,4096})</parameter>")
CHILD = re.compile(r"<(?P<key>[A-Za-z_][\w.-]{0,63}+)>")
VALUE_TOKEN = re.compile(
    rf"(?P<close></(?:{NAMESPACE})?(?:parameter|param)>)|"
    rf"(?P<open><(?:{NAMESPACE})?(?:parameter|param)(?:=|\s+name\s*=))|"
    rf"(?P<call><(?:{NAMESPACE})?(?:function=|function\s+name=|invoke\s+name=))|"
    rf"(?P<end></(?:{NAMESPACE})?(?:function|invoke|tool_use)>)|"
    rf"(?P<outer></(?:{NAMESPACE})?(?:tool_call|{CALLS})>)"
)
FOLLOWS = re.compile(
    rf"(?:\s*</(?:{NAMESPACE})?(?:parameter|param)>)?\s*(?:\Z|<(?:{NAMESPACE})?(?:parameter|param)[=\s]|</(?:{NAMESPACE})?(?:function|invoke|tool_use|tool_call|"
    rf"{CALLS}|parameters)(?:>|\Z)|</?[a-z:_|/]{{0,24}}\Z|<(?:function|tool_call|invoke)\b)"
)
"""What can stand behind a parameter's closer, which models write twice now and then."""
CALL_END = re.compile(rf"</(?:{NAMESPACE})?(?:function|invoke|tool_use|tool_call|{CALLS})>")
