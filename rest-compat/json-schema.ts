import { z } from 'zod';
import type { JsonObject } from '../schema/canonical-json.ts';

/** A shape as JSON Schema 2020-12, without saying so: of a request as it is sent, or of an answer as it goes out. */
export function jsonSchema(shape: z.ZodType, io: 'input' | 'output'): JsonObject {
  const { $schema: _, ...bare } = z.toJSONSchema(shape, { io, unrepresentable: 'any' });
  return bare as JsonObject;
}
