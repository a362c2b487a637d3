import { z } from 'zod';
import type { JsonObject } from '../schema/canonical-json.ts';

/** A shape as JSON Schema 2020-12, without saying so: of a request as it is sent, or of an answer as it goes out. */
export function jsonSchema(shape: z.ZodType, io: 'input' | 'output'): JsonObject {
  const { $schema: _, ...bare } = z.toJSONSchema(shape, {
    io,
    unrepresentable: 'any',
    override: ({ jsonSchema: made }) => spellTuple(made),
  });
  return bare as JsonObject;
}

/**
 * zod ends a tuple by `items: false`, which linters and generators of OpenAPI take for none, and spells an empty one as
 * `prefixItems: []`, which is no JSON Schema 2020-12 (10.3.1.1). `maxItems`, which it sets too, says the same alone.
 */
function spellTuple(made: z.core.JSONSchema.BaseSchema): void {
  if (made.items !== false || made.maxItems === undefined) return;
  made.items = {};
  if (made.prefixItems?.length === 0) delete made.prefixItems;
}
