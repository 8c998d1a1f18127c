-- 0010: what people said of alerts: a history, in which the last word on an alert counts.
-- alert: its id, which is that of the rule, the line and what it speaks of; so it stays from day to day, and no upload
-- takes it along. action: acknowledge, mute, unmute; until: the last day that a mute holds.
CREATE TABLE alert_words (
    alert VARCHAR, rule VARCHAR, action VARCHAR, reason VARCHAR, by_whom VARCHAR, said_at TIMESTAMP, until DATE
);
