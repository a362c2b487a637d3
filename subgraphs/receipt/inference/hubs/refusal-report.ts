import { holdsSecret } from '../../../../schema/board/secrets.ts';
import type { Json } from '../../../../schema/canonical-json.ts';
import { errorIn, type HubRefusal } from './verdict.ts';

/** A hub's refusal, for the operator's log only. It has no message of the hub, and nothing that the caller sent. */
export interface RefusalReport {
  readonly hub: string;
  /** HTTP status of the hub's response. */
  readonly status: number;
  /** The `code` of the hub's error. Null if it has none, or one that is not a plain word. */
  readonly code: string | null;
  /** The `type` of the hub's error. Null if it has none, or one that is not a plain word. */
  readonly type: string | null;
}

/**
 * Report of a hub's refusal. It keeps only plain words, because a hub is not trusted and may send an address, a path, an id or a sentence
 * as a code; none of these consists of letters and underscores alone. Pure.
 * @param secrets keys and hosts that a hub may repeat
 */
export function reportOf(hub: string, { status, body }: HubRefusal, secrets: readonly string[]): RefusalReport {
  const { code, type } = errorIn(body);
  return { hub, status, code: plainWord(code, secrets), type: plainWord(type, secrets) };
}

const PLAIN_WORD = /^[A-Za-z]+(?:_[A-Za-z]+)*$/;
const PLAIN_WORD_CHARS_MAX = 64;

function plainWord(value: Json | undefined, secrets: readonly string[]): string | null {
  if (typeof value !== 'string' || value.length > PLAIN_WORD_CHARS_MAX || !PLAIN_WORD.test(value)) return null;
  const lower = value.toLowerCase();
  return holdsSecret(value) || secrets.some(secret => lower.includes(secret.toLowerCase())) ? null : value;
}
