import { canonicalHash, isJsonObject, type Json, type JsonObject } from '../../../../schema/canonical-json.ts';
import { type Invalid, judgeBy, type Rule, unless } from '../signed-document.ts';

/**
 * Checks a webhook message. It is signed in its headers with a secret that its receiver and this service share (HMAC-SHA256), so others
 * cannot verify it. The hash of its event can be recomputed, and a message that contradicts this hash is certainly wrong.
 */
export function verifyWebhookMessage(document: JsonObject): Invalid {
  const judged = judgeBy(rules, document);
  if (judged.kind === 'invalid') return judged;
  return {
    kind: 'invalid',
    code: 'needs_secret',
    sentence: NEEDS_SECRET,
    checks: judged.checks,
  };
}

/** The sentence for everything that is signed with such a secret. */
export const NEEDS_SECRET =
  'This is signed with an HMAC. To check it, use the secret of the webhook or session, the headers of the message (X-SVC-Signature, webhook-signature) and the bytes of its body.';

const rules: readonly Rule<JsonObject>[] = [
  {
    code: 'event_hash_mismatch',
    says: 'hash is the SHA-256 of the canonical event.',
    fault: message => (isJsonObject(message.event) ? hashFault(message) : null),
  },
];

function hashFault({ event, hash, ...message }: JsonObject): string | null {
  const { kind = null, body = null } = event as JsonObject;
  const member = (name: string): Json => message[name] ?? null;
  const facts = Object.fromEntries(
    ['agent_id', 'position', 'seq', 'task_id', 'at', 'prev_hash'].map(name => [name, member(name)]),
  );
  return unless(canonicalHash({ ...facts, kind, body }) === hash, 'hash is not the SHA-256 of the canonical event.');
}
