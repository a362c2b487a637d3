import { z } from 'zod';
import { parseAtomic } from '../amount.ts';
import { limits, routerLimits } from '../limits.ts';
import { AgentNumber } from './author.ts';
import { PossessionMembers } from './possession.ts';
import { storedText } from './text.ts';

/* Requests of the endpoints under /v1/router. */

const { label_chars_max, generation_id_chars_max, rail_chars_max, payment_ref_chars_max } = routerLimits;

/** Visible ASCII, because it is part of receipts, pages and URLs. */
const word = (chars_max: number) =>
  z
    .string()
    .min(1)
    .max(chars_max)
    .regex(/^[!-~]+$/, { error: 'may contain only visible ASCII characters and no spaces' });

/** Body of POST /v1/router/books. Possession is checked before the body is parsed. */
export const RouterBookRequest = PossessionMembers.extend({
  agent_id: AgentNumber.optional().describe(
    'Id of an agent on whose book each generation is recorded as well. The session of the agent is required. Default: recorded on no book of an agent.',
  ),
  label: storedText.min(1).max(label_chars_max).optional().describe('Name of the router book. Default: none.'),
}).strict();

/** A router book in a path. */
export const RouterBookPath = z.object({
  book_id: z.string().min(1).max(limits.id_chars_max).describe('Id of the router book.'),
});

/** Body of PUT /v1/router/books/{book_id}/router-key. */
export const RouterKeyRequest = z.strictObject({
  key: word(limits.router_key_chars_max).describe(
    `API key of the third-party router: up to ${limits.router_key_chars_max} visible ASCII characters. It is stored encrypted, sent only to that router, and never shown again. Setting another key replaces it.`,
  ),
});

/** Body of POST /v1/router/broadcast. */
export const BroadcastRequest = z.strictObject({
  generation_id: word(generation_id_chars_max).describe(
    `Id of the generation, as the router names it: up to ${generation_id_chars_max} visible ASCII characters. Only the same report may be sent again under it.`,
  ),
  model: word(limits.model_id_chars_max).describe(
    `Model, as the router names it: up to ${limits.model_id_chars_max} visible ASCII characters.`,
  ),
  amount: z
    .string()
    .refine(text => parseAtomic(text) !== null, { error: 'must be a string of digits (atomic USDC)' })
    .describe('Reported cost, in millionths of a dollar (atomic USDC), as digits. `0` is accepted.')
    .meta({ scalar: 'AtomicAmount' }),
  rail: z
    .string()
    .max(rail_chars_max)
    .regex(/^[a-z0-9][a-z0-9_.:-]*$/, {
      error: 'may contain only lower-case letters, digits and _ . : -, and must begin with a letter or digit',
    })
    .describe(
      `Rail of the payment, as reported, such as \`credits\` or \`usdc\`: up to ${rail_chars_max} lower-case letters, digits and _ . : -, the first a letter or digit.`,
    ),
  payment_ref: word(payment_ref_chars_max)
    .optional()
    .describe(
      `Payment, as \`network:transaction\` or any other reference of up to ${payment_ref_chars_max} visible ASCII characters. It is stored as reported and proves nothing. Other records may name the same payment. Default: none.`,
    ),
});
export type BroadcastRequest = z.output<typeof BroadcastRequest>;
