import type { JsonObject } from '../../schema/canonical-json.ts';
import type { Door } from '../door.ts';
import { schemasOf } from '../door-schemas.ts';
import { priceOf } from '../offer.ts';
import type { Port } from '../port.ts';
import { wholeBazaar } from './bazaar.ts';

/** /.well-known/x402: each paid endpoint with the offer of its 402, in x402 v2. */
export function x402Manifest(doors: readonly Door[], port: Port): JsonObject {
  return { x402Version: 2, resources: doors.flatMap(door => resources(door, port)) };
}

/** A price that depends on the request is null. Only the 402 of that request has it. */
function resources(door: Door, port: Port): JsonObject[] {
  const { name, path, methods, summary } = door;
  if (door.price === null) return [];
  const resource = port.base_url + path;
  const price = priceOf(door, resource);
  const { input, output } = schemasOf(door);
  const offered = price && port.challenge(price, null);
  return methods.map(method => ({
    resource,
    type: 'http',
    method,
    name,
    description: summary,
    price_atomic: price?.amount_atomic.toString() ?? null,
    networks: offered
      ? offersIn(offered.body).flatMap(({ network }) => network ?? [])
      : [...(door.price?.networks ?? [])],
    accepts: offered ? offersIn(offered.required) : [],
    input,
    output,
    extensions: { bazaar: wholeBazaar(door) },
  }));
}

function offersIn({ accepts }: JsonObject): readonly JsonObject[] {
  return Array.isArray(accepts) ? accepts : [];
}
