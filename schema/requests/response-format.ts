import { z } from 'zod';
import { type JsonObject, present } from '../canonical-json.ts';
import { limits } from '../limits.ts';
import { wellFormedText } from './parse.ts';
import { Schema } from './tools.ts';

/** A schema that the answer is to fit, as both of OpenAI's spellings have it. */
export const schemaMembers = {
  name: wellFormedText.min(1).max(limits.tool_name_chars_max),
  description: wellFormedText.max(limits.tool_description_chars_max).nullish(),
  schema: Schema.nullish().describe('A JSON Schema, passed on as it is.'),
  strict: z.boolean().nullish(),
} as const;

const SERVED = 'is not served here: an answer is text, json_object or json_schema';

/** As what the answer is asked for. */
export const ResponseFormat = z
  .discriminatedUnion(
    'type',
    [
      z.object({ type: z.enum(['text', 'json_object']) }),
      z.object({ type: z.literal('json_schema'), json_schema: z.object(schemaMembers) }),
    ],
    { error: SERVED },
  )
  .nullish();
export type ResponseFormat = z.output<typeof ResponseFormat>;

/** In one form, as hubs are asked for it: text is what is given anyway. */
export function canonicalFormat(format: ResponseFormat): JsonObject | null {
  if (!format || format.type === 'text') return null;
  return 'json_schema' in format
    ? { type: format.type, json_schema: present(format.json_schema) }
    : { type: format.type };
}
