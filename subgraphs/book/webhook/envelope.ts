import type { Json } from '../../../schema/canonical-json.ts';
import { documents } from '../../../schema/documents.ts';
import { messageNumbers } from '../../../schema/webhook/kinds.ts';
import { type MessageName, messageId, type PingJob } from '../../../schema/webhook/message.ts';
import { iso } from '../../clock.ts';
import type { FoundEvent } from './found-message.ts';

/**
 * Content of a message. `hash` is the SHA-256 of the canonical JSON of {agent_id, position, kind, seq, task_id, body, at,
 * prev_hash}, with the kind and body of `event`. A receiver can compute it, and it also covers `number`, which is in the body. `row` is
 * the row as REST shows it when the message is sent. `row_hash` is the hash of the facts that the row had at birth.
 */
export function envelope(name: MessageName, event: FoundEvent, row: Json) {
  const { agent_id, position, kind } = name;
  const { seq, task_id, body, prev_hash, hash, row_hash } = event;
  return {
    schema: documents.book_webhook,
    id: messageId(name),
    kind,
    agent_id,
    number: messageNumbers(body)[kind] ?? null,
    position,
    seq,
    task_id,
    row,
    row_hash,
    event: { kind: event.kind, body },
    prev_hash,
    hash,
    at: iso(event.at.getTime()),
  };
}

const OF_NO_EVENT = ['number', 'position', 'seq', 'task_id', 'row', 'row_hash', 'event', 'prev_hash', 'hash'] as const;

/** Content of a test message. It has all members, and those of an event are null. */
export function pingEnvelope({ agent_id, id }: PingJob, now_ms: number) {
  const nothing = Object.fromEntries(OF_NO_EVENT.map(name => [name, null] as const));
  return { schema: documents.book_webhook, id, kind: 'ping', agent_id, ...nothing, at: iso(now_ms) };
}
