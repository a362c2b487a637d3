import { z } from 'zod';
import { shownAsJson } from '../noun.ts';

/* What is shown of the tokens of a message. */

export const MessageUsageNoun = z.object({
  input_tokens: z
    .int()
    .describe('Tokens of the request, without those that came from a cache. 0 if the hub does not count.'),
  output_tokens: z.int().describe('Tokens of the answer. 0 if the hub does not count.'),
  cache_read_input_tokens: z
    .int()
    .nullable()
    .describe('Tokens of the request that were read from a cache of the hub. Null if it states none.'),
  cache_creation_input_tokens: z
    .int()
    .nullable()
    .describe('Tokens of the request that were written to a cache of the hub. Null if it states none.'),
  output_tokens_details: shownAsJson(z.object({ thinking_tokens: z.int() }))
    .nullable()
    .describe('`{thinking_tokens}`: tokens of the answer that are thinking. Null if the hub states none.'),
});

export const MessageTokensNoun = z.object({
  input_tokens: z
    .int()
    .min(0)
    .describe('Estimate, made without asking a model. The hub that answers may count otherwise.'),
  estimate: z.literal(true).describe('Always true.'),
});
