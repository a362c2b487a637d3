import type { JsonObject } from '../../schema/canonical-json.ts';
import type { Door } from '../door.ts';
import { schemasOf } from '../door-schemas.ts';
import { priceOf } from '../offer.ts';
import type { Port } from '../port.ts';
import { wholeBazaar } from './bazaar.ts';

/** /.well-known/x402: each paid door with the very offer that its 402 makes, in the terms of x402 v2. */
export function x402Manifest(doors: readonly Door[], port: Port): JsonObject {
  return { x402Version: 2, resources: doors.flatMap(door => resources(door, port)) };
}

/** A price that depends on what is asked for is null, and offered by the 402 of that request alone. */
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
