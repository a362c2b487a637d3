import { z } from 'zod';
import type { Json } from '../../../schema/canonical-json.ts';

/** What a Solana node answers, as far as it is read here. A node is not trusted: what has another shape is no answer. */
const count = z.int().nonnegative();
const base58 = z.string().regex(/^[1-9A-HJ-NP-Za-km-z]{32,88}$/);
const base64 = z.tuple([z.string(), z.literal('base64')]).transform(([text]) => Buffer.from(text, 'base64'));
/** `"BlockhashNotFound"`, `{"InstructionError": [2, {"Custom": 1}]}`. */
const failure = z.json().transform(value => value as Json);
const atomic = z
  .string()
  .regex(/^[0-9]{1,20}$/)
  .transform(value => BigInt(value));

/** An answer with the slot at which its node gave it. */
function inContext<T>(value: z.ZodType<T>) {
  return z.object({ context: z.object({ slot: count }), value }).transform(answer => ({
    slot: answer.context.slot,
    value: answer.value as T,
  }));
}

export const hashShape = base58;
export const slotShape = count;
export const latestShape = inContext(z.object({ blockhash: base58, lastValidBlockHeight: count }));
export const validShape = inContext(z.boolean());
export const accountShape = inContext(z.object({ data: base64, owner: base58 }).nullable());
export const simulatedShape = inContext(z.object({ err: failure }));
export const finalizedShape = z
  .object({ absoluteSlot: count, blockHeight: count })
  .transform(({ absoluteSlot, blockHeight }) => ({ slot: absoluteSlot, block_height: blockHeight }));

export const statusesShape = inContext(
  z.array(
    z
      .object({
        slot: count,
        err: failure,
        /** Older nodes leave it out, and say by `confirmations: null` that it is rooted. */
        confirmationStatus: z.enum(['processed', 'confirmed', 'finalized']).nullish(),
        confirmations: count.nullish(),
      })
      .nullable(),
  ),
);

const balances = z
  .array(z.object({ mint: base58, owner: base58.nullish(), uiTokenAmount: z.object({ amount: atomic }) }))
  .nullish()
  .transform(list =>
    (list ?? []).map(({ mint, owner, uiTokenAmount }) => ({
      mint,
      owner: owner ?? null,
      amount_atomic: uiTokenAmount.amount,
    })),
  );

export const transactionShape = z
  .object({
    slot: count,
    transaction: base64,
    meta: z.object({ err: failure, preTokenBalances: balances, postTokenBalances: balances }),
  })
  .transform(({ slot, transaction, meta }) => ({
    slot,
    raw: transaction,
    err: meta.err,
    before: meta.preTokenBalances,
    after: meta.postTokenBalances,
  }))
  .nullable();

export const signaturesShape = z.array(z.object({ signature: base58, slot: count }));
