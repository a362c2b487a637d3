import { z } from 'zod';
import { limits } from '../limits.ts';
import { type NetworkName, networkNamed, networks } from '../network.ts';
import { intentMembers, ModelId } from './paid-work.ts';

/* The bodies of POST /task-request and /task-quote. */

/** `base`, `eip155:8453` or `8453`; `solana` or its CAIP-2 name. */
const ChainId = z
  .string()
  .transform((text, context): NetworkName => {
    const network = text === String(networks.base.chain_id) ? networks.base.name : networkNamed(text);
    if (network !== null) return network;
    context.addIssue({ code: 'custom', message: 'is no network that we settle on' });
    return z.NEVER;
  })
  .describe('Network name.');

const price = limits.call_price_atomic.toString();

/** The door's price is fixed, and what is paid is what the payee receives. */
const Amount = z
  .string()
  .refine(amount => amount === price, { error: `must be ${price}: the gross value is the price of the call` })
  .describe('Gross task value, atomic USDC.');

/** An address as its chain spells it; whether it is the payer's is known once the payment is. */
const Sender = z
  .string()
  .regex(/^(0x[0-9a-fA-F]{40}|[1-9A-HJ-NP-Za-km-z]{32,44})$/, { error: 'is not an address' })
  .describe('Who owns the task and pays for it: 0x on base, base58 on solana.');

const MessageType = z.literal('inference_request');

const optional = {
  model_id: ModelId,
  input_hash: z
    .string()
    .regex(/^0x[0-9a-fA-F]{64}$/, { error: 'is not a keccak256: 0x and 64 hex digits' })
    .transform(hash => hash.toLowerCase())
    .nullable()
    .default(null)
    .describe('keccak256 of the input.'),
  payment: z
    .strictObject({ rail: z.enum(['usdc', 'tfuel']).nullish() })
    .nullish()
    .transform(given => ({ rail: given?.rail ?? ('usdc' as const) }))
    .describe('`tfuel` changes what the answer says, never how it is paid.'),
  ...intentMembers,
} as const;

/** Body of POST /task-request. */
export const TaskRequest = z.strictObject({
  message_type: MessageType,
  chain_id: ChainId,
  amount: Amount,
  sender: Sender,
  ...optional,
});
export type TaskRequest = z.output<typeof TaskRequest>;

/** Body of POST /task-quote: the same, and nothing of it has to be known yet. */
export const TaskQuoteRequest = z.strictObject({
  message_type: MessageType.nullish().transform(given => given ?? ('inference_request' as const)),
  chain_id: ChainId.nullable().default(null),
  amount: Amount.nullable().default(null),
  sender: Sender.nullable().default(null),
  ...optional,
});
export type TaskQuoteRequest = z.output<typeof TaskQuoteRequest>;
