import { z } from 'zod';
import { canonicalJson, isJsonObject, type JsonObject } from '../canonical-json.ts';
import { findExceededBound } from '../json-bounds.ts';
import type { Reasoning } from '../reasoning.ts';
import { reasoningOfTurn } from './chat-message.ts';

/*
 * Reasoning as a response has it in `encrypted_content`: base64 of JSON with the members of the hub's answer. A client sends it back
 * unchanged, and the hub receives the same members with their signatures.
 */

/** Marks the values that this service made, because other providers put JSON of their own there. */
const MARK = 'svc_reasoning';

const Returned = z.strictObject(reasoningOfTurn);

/** Null if there is no reasoning. */
export function reasoningToReturn(reasoning: Reasoning): string | null {
  if (Object.keys(reasoning).length === 0) return null;
  return Buffer.from(canonicalJson({ [MARK]: reasoning as JsonObject })).toString('base64');
}

/** Null if this service did not make it: only the provider that encrypted it can read it. `invalid` if it was changed. */
export function returnedReasoning(encrypted_content: string): Reasoning | 'invalid' | null {
  const marked = markedIn(encrypted_content);
  if (marked === undefined) return null;
  const { data } = Returned.safeParse(marked);
  return data === undefined ? 'invalid' : (data as Reasoning);
}

function markedIn(encrypted_content: string): unknown {
  const bytes = Buffer.from(encrypted_content, 'base64');
  if (findExceededBound(bytes) !== null) return undefined;
  try {
    const value: unknown = JSON.parse(bytes.toString('utf8'));
    return isJsonObject(value) ? value[MARK] : undefined;
  } catch {
    return undefined;
  }
}
