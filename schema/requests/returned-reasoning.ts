import { z } from 'zod';
import { canonicalJson, isJsonObject, type JsonObject } from '../canonical-json.ts';
import { exceededBy } from '../json-bounds.ts';
import type { Reasoning } from '../reasoning.ts';
import { reasoningOfTurn } from './chat-message.ts';

/*
 * Reasoning as a response carries it in `encrypted_content`: base64 of JSON, in the members of the hub that gave it. A client sends it back as
 * it came, and the hub gets the same members again, with their signatures.
 */

/** It marks what this service made: others put their own JSON there. */
const MARK = 'svc_reasoning';

const Returned = z.strictObject(reasoningOfTurn);

/** Null where there is none. */
export function reasoningToReturn(reasoning: Reasoning): string | null {
  if (Object.keys(reasoning).length === 0) return null;
  return Buffer.from(canonicalJson({ [MARK]: reasoning as JsonObject })).toString('base64');
}

/** Null where it is not of this service's making: only whoever encrypted it can read it. `invalid`: it was changed on its way. */
export function returnedReasoning(encrypted_content: string): Reasoning | 'invalid' | null {
  const marked = markedIn(encrypted_content);
  if (marked === undefined) return null;
  const { data } = Returned.safeParse(marked);
  return data === undefined ? 'invalid' : (data as Reasoning);
}

function markedIn(encrypted_content: string): unknown {
  const bytes = Buffer.from(encrypted_content, 'base64');
  if (exceededBy(bytes) !== null) return undefined;
  try {
    const value: unknown = JSON.parse(bytes.toString('utf8'));
    return isJsonObject(value) ? value[MARK] : undefined;
  } catch {
    return undefined;
  }
}
