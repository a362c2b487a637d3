import { z } from 'zod';
import { parseAtomic } from '../amount.ts';
import { limits, routerLimits } from '../limits.ts';
import { PossessionMembers } from './possession.ts';
import { storedText } from './text.ts';

/* What is asked of the doors under /v1/router. */

const { label_chars_max, generation_id_chars_max, rail_chars_max, payment_ref_chars_max } = routerLimits;

/** Visible ASCII: what stands in receipts and pages, and in the address of a look-up. */
const word = (chars_max: number) =>
  z
    .string()
    .min(1)
    .max(chars_max)
    .regex(/^[!-~]+$/, { error: 'is one word of visible ASCII characters' });

export const RouterBookMembers = z.strictObject({
  agent_id: z
    .int()
    .min(1)
    .max(2 ** 31 - 1)
    .optional()
    .describe('On whose book what is broadcast lands, too: possession of it is to be shown by its session.'),
  label: storedText.min(1).max(label_chars_max).optional().describe('What its owner calls it.'),
});
export type RouterBookMembers = z.output<typeof RouterBookMembers>;
/** Body of POST /v1/router/books; possession in it was looked at before. */
export const RouterBookRequest = PossessionMembers.extend(RouterBookMembers.shape).strict();

/** Body of PUT /v1/router/books/{book_id}/router-key. */
export const RouterKeyMembers = z.strictObject({
  key: word(limits.router_key_chars_max).describe(
    "The third-party router's own key. It is kept sealed, goes to that router alone, and is never shown again; another one takes its place.",
  ),
});

/** Body of POST /v1/router/broadcast. */
export const BroadcastMembers = z.strictObject({
  generation_id: word(generation_id_chars_max).describe('As the router names it.'),
  model: word(limits.model_id_chars_max).describe('As the router names it.'),
  amount: z
    .string()
    .refine(text => parseAtomic(text) !== null, { error: 'is a decimal string of digits' })
    .describe('What it is said to have cost: millionths of a dollar (atomic USDC), digits.'),
  rail: z
    .string()
    .max(rail_chars_max)
    .regex(/^[a-z0-9][a-z0-9_.:-]*$/, { error: 'is a word of lower-case letters, digits and any of _ . : -' })
    .describe('How it is said to have been paid for, such as `credits` or `usdc`.'),
  payment_ref: word(payment_ref_chars_max)
    .optional()
    .describe(
      'A payment that is said to be its own. It is kept as it was said, takes no reference and proves nothing.',
    ),
});
export type BroadcastMembers = z.output<typeof BroadcastMembers>;
