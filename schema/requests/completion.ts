import { z } from 'zod';
import { parseAtomic } from '../amount.ts';
import { type NameOutcome, splitRef, transactionNamed, walletNamed } from '../foreign-names.ts';
import { foreignNameLimits, reactionLimits } from '../limits.ts';
import { type NetworkName, networkNamed } from '../network.ts';
import { storedText } from './text.ts';

/* The body of POST /v1/board/inbound/completions. */

const text = (chars_max: number) => storedText.min(1).max(chars_max);
const Wallet = text(foreignNameLimits.address_chars_max);
const Transaction = text(foreignNameLimits.transaction_chars_max);

const body = z.strictObject({
  source: z
    .string()
    .max(reactionLimits.source_chars_max)
    .regex(/^[a-z0-9][a-z0-9_.-]*$/, {
      error: 'may contain only lower-case letters, digits and _ . -, and must begin with a letter or digit',
    })
    .describe(
      `Name of the board or service where the work was completed: up to ${reactionLimits.source_chars_max} lower-case letters, digits and _ . -, the first a letter or digit.`,
    ),
  external_id: z
    .string()
    .min(1)
    .max(reactionLimits.external_id_chars_max)
    .regex(/^[!-~]+$/, { error: 'may contain only visible ASCII characters and no spaces' })
    .describe(
      `Id of the completion at its source, up to ${reactionLimits.external_id_chars_max} visible ASCII characters. The same \`source\` and \`external_id\` always mean the same completion.`,
    ),
  payer: Wallet.describe('Wallet that paid: 0x and 40 hex digits on Base, base58 on Solana.'),
  payee: Wallet.describe('Wallet that was paid: 0x and 40 hex digits on Base, base58 on Solana.'),
  amount: z
    .string()
    .refine(given => given !== '0' && parseAtomic(given) !== null, {
      error: 'must be a string of digits (atomic USDC) other than 0',
    })
    .describe('Amount that was paid, in atomic USDC. At least 1.')
    .meta({ scalar: 'AtomicAmount' }),
  payment_ref: Transaction.nullish().describe(
    'Payment as `network:transaction`, or the transaction alone. Send either this or `payment_tx`.',
  ),
  payment_tx: Transaction.nullish().describe(
    'The same as `payment_ref`, under another name. Send either this or `payment_ref`.',
  ),
  network: text(foreignNameLimits.network_chars_max)
    .nullish()
    .describe(
      'Network of the payment: `base`, `solana` or a CAIP-2 id. Default: the network that `payment_ref` names, otherwise `base`.',
    ),
  output_hash: z
    .string()
    .regex(/^(?:0x)?[0-9a-fA-F]{64}$/, { error: 'is not 32 bytes: 64 hex digits, optionally after 0x' })
    .transform(hash => hash.replace(/^0x/, '').toLowerCase())
    .describe('SHA-256 of what was delivered: 64 hex digits, with or without 0x.'),
});

/** Canonical form of a completion. A repeated report is recognized by it, and the receipt is bound to it. */
export interface CompletionRequest
  extends Readonly<Omit<z.output<typeof body>, 'payment_ref' | 'payment_tx' | 'network'>> {
  readonly network: NetworkName;
  /** In the canonical spelling of its chain. */
  readonly transaction: string;
}

/** Body of the REST endpoint and argument on the graph. */
export const CompletionRequest = body.transform(canonical);

function canonical(completion: z.output<typeof body>, context: z.RefinementCtx): CompletionRequest {
  const at = completion.payment_tx ? 'payment_tx' : 'payment_ref';
  if ((completion.payment_ref ?? null) === null && (completion.payment_tx ?? null) === null)
    return refused(context, at, 'is required');
  if (completion.payment_ref && completion.payment_tx)
    return refused(context, at, 'cannot be sent with payment_ref: send one of them');
  const given = completion[at] ?? '';
  const ref = splitRef(given);
  const network = completion.network ? networkNamed(completion.network) : (ref?.network ?? 'base');
  if (network === null)
    return refused(context, 'network', 'must be base or solana, or a CAIP-2 id that this service knows');
  if (ref && ref.network !== network) return refused(context, at, 'names a network other than that of `network`');
  const name = (member: string, named: NameOutcome) =>
    named.kind === 'named' ? named.name : refused(context, member, named.form);
  return {
    source: completion.source,
    external_id: completion.external_id,
    network,
    payer: name('payer', walletNamed(network, completion.payer)),
    payee: name('payee', walletNamed(network, completion.payee)),
    amount: completion.amount,
    transaction: name(at, transactionNamed(network, ref?.transaction ?? given)),
    output_hash: completion.output_hash,
  };
}

function refused(context: z.RefinementCtx, member: string, message: string): never {
  context.addIssue({ code: 'custom', path: [member], message });
  return z.NEVER;
}
