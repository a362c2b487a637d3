import type { Door } from '../../../rest-compat/door.ts';
import { jsonSchema } from '../../../rest-compat/door-schemas.ts';
import { everyDoor } from '../../../rest-compat/every-door.ts';
import { isJsonObject, type Json } from '../../../schema/canonical-json.ts';

/* Endpoints whose answers can contain a signed document or a signature, found by their schemas. */

const SIGNED: ReadonlySet<string> = new Set(['issuer_signature', 'co_signature', 'signature', 'jws', 'inflow_claim']);

export const signingDoors: readonly Door[] = everyDoor.filter(({ response }) =>
  showsSigned(jsonSchema(response, 'output') as Json),
);

function showsSigned(shape: Json): boolean {
  if (Array.isArray(shape)) return shape.some(showsSigned);
  if (!isJsonObject(shape)) return false;
  const { properties } = shape;
  const named = isJsonObject(properties) && Object.keys(properties).some(name => SIGNED.has(name));
  return named || Object.values(shape).some(showsSigned);
}

/** All signed members of an answer in a fixed order, without nulls. */
export function signaturesIn(answer: Json): Json[] {
  if (Array.isArray(answer)) return answer.flatMap(signaturesIn);
  if (!isJsonObject(answer)) return [];
  const names = Object.keys(answer).sort();
  return names.flatMap(name => {
    const value = answer[name] ?? null;
    if (value === null) return [];
    return SIGNED.has(name) ? [[name, withoutNull(value)]] : signaturesIn(value);
  });
}

function withoutNull(value: Json): Json {
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(Object.entries(value).filter(([, member]) => member !== null));
}
