import { z } from 'zod';
import { paymentRails } from '../inference/task-answer.ts';
import { limits } from '../limits.ts';
import { type NetworkName, networkNamed, networks } from '../network.ts';
import { constantText } from '../words.ts';
import { intentMembers, ModelId } from './paid-work.ts';

/* The bodies of POST /task-request and /task-quote. */

const ChainId = z
  .string()
  .transform((text, context): NetworkName => {
    const network = text === String(networks.base.chain_id) ? networks.base.name : networkNamed(text);
    if (network !== null) return network;
    context.addIssue({ code: 'custom', message: 'must be base or solana, or the CAIP-2 id of one of them' });
    return z.NEVER;
  })
  .describe('Network of the payment: `base`, `eip155:8453` or `8453`; `solana` or its CAIP-2 id.');

const price = limits.call_price_atomic.toString();

/** The price of the endpoint is fixed; the payee receives all of it. */
const Amount = z
  .string()
  .refine(amount => amount === price, { error: `must be ${price} (atomic USDC), the price of the call` })
  .describe(`Gross value of the task, in atomic USDC: always ${price}, the price of the call.`);

/** An address in the spelling of its chain. Whether it is the payer's is checked when the payment is known. */
const Sender = z
  .string()
  .regex(/^(0x[0-9a-fA-F]{40}|[1-9A-HJ-NP-Za-km-z]{32,44})$/, {
    error: 'is not an address: 0x and 40 hex digits on Base, base58 on Solana',
  })
  .describe('Address that owns the task and pays for it: 0x and 40 hex digits on Base, base58 on Solana.');

const MessageType = z.literal('inference_request').describe(constantText('inference_request'));

export const TaskPayment = z.strictObject({
  rail: z
    .enum(paymentRails)
    .nullish()
    .describe('Rail that the response names for the task: `usdc` (default) or `tfuel`.'),
});

const optional = {
  model_id: ModelId,
  input_hash: z
    .string()
    .regex(/^0x[0-9a-fA-F]{64}$/, { error: 'is not a keccak256: 0x and 64 hex digits' })
    .transform(hash => hash.toLowerCase())
    .nullable()
    .default(null)
    .describe('keccak256 of the input: 0x and 64 hex digits. Default: none.'),
  payment: TaskPayment.nullish()
    .transform(given => ({ rail: given?.rail ?? ('usdc' as const) }))
    .describe(
      'Rail that the task is labelled with: `{rail: "usdc"}` or `{rail: "tfuel"}`. The payment is in USDC in either case. Default: `usdc`.',
    ),
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

/** Body of POST /task-quote: the same members, all of them optional. */
export const TaskQuoteRequest = z.strictObject({
  message_type: MessageType.nullish().transform(given => given ?? ('inference_request' as const)),
  chain_id: ChainId.nullable().default(null).describe(`${ChainId.description} Default: any network.`),
  amount: Amount.nullable().default(null).describe(`${Amount.description} Default: this amount.`),
  sender: Sender.nullable().default(null).describe(`${Sender.description} Default: any payer.`),
  ...optional,
});
export type TaskQuoteRequest = z.output<typeof TaskQuoteRequest>;
