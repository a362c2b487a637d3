import type { JsonObject } from '../schema/canonical-json.ts';
import type { Door } from './door.ts';
import type { Port } from './port.ts';

/** /.well-known/x402: each paid door with the very offer that its 402 makes. */
export function x402Manifest(doors: readonly Door[], port: Port): JsonObject {
  return { x402Version: 2, resources: doors.flatMap(door => resources(door, port)) };
}

function resources({ name, path, methods, summary, price }: Door, port: Port): JsonObject[] {
  if (!price) return [];
  const resource = port.base_url + path;
  const { accepts } = port.challenge({ ...price, resource, description: summary }, null).body;
  const offers = Array.isArray(accepts) ? accepts : [];
  return methods.map(method => ({
    resource,
    type: 'http',
    method,
    name,
    description: summary,
    price_atomic: price.amount_atomic.toString(),
    networks: offers.flatMap(({ network }: JsonObject) => network ?? []),
    accepts: offers,
  }));
}
