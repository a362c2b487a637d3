import type { Door } from './door.ts';
import { schemasOf } from './faces/door-schemas.ts';
import type { Price } from './port.ts';

/** What a door asks for at its absolute URL; null where it is free. */
export function priceOf(door: Door, resource: string): Price | null {
  const { price, summary } = door;
  return price && { ...price, resource, description: summary, output_schema: schemasOf(door).in_short };
}
