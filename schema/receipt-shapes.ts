import { z } from 'zod';
import { limits } from './limits.ts';
import { type NetworkName, networkWords } from './network.ts';
import { AtomicMember, MomentMember, wordMember } from './noun.ts';

/* Parts of a receipt that its document and the graph show alike: what is signed of payments and reports, and what stands beside it unsigned. */

const Hash = z.string().regex(/^[0-9a-f]{64}$/);
const Network = wordMember<NetworkName>().describe('Network of the payment.').meta({ words: networkWords });
const TransferIndex = z
  .int()
  .nullable()
  .describe('Index of the Transfer event in its block. Null if the transfer was not looked at.');
const Asset = z.string().describe('Address of the token.');
const Payer = z.string().describe('Wallet that paid.');
const PayTo = z.string().describe('Wallet that was paid.');

/** What is known of a caller. A member that is not known is left out. */
export const CallerBindingNoun = z.object({
  payer_wallet: z.string().optional().describe('Wallet that paid.'),
  agent_pubkey: z.string().optional().describe('Public key of the delegated session.'),
  api_key_hash: Hash.optional().describe('SHA-256 of the API key that was used in place of a payment.'),
});

export const SignedPaymentNoun = z.object({
  ref: z.string().describe('`base:0x<transaction hash>` or `solana:<signature>`.'),
  transfer_index: TransferIndex,
  network: Network,
  rail: z.literal('usdc').describe('What was paid with.'),
  asset: Asset,
  gross_amount: AtomicMember.describe('What the payer gave, in atomic USDC.'),
  settled_amount: AtomicMember.describe('What the payee received, in atomic USDC.'),
  payer: Payer,
  pay_to: PayTo,
  payment_id: z
    .string()
    .describe('Nonce of the authorization (EIP-3009), message hash (Solana), or identifier that the client gave.'),
});

export const SignedLegNoun = z.object({
  leg: z.enum(['payee', 'fee']).describe('`payee`: to whom it was owed. `fee`: to this service.'),
  ref: z.string().describe('`network:transaction`.'),
  transfer_index: TransferIndex,
  network: Network,
  asset: Asset,
  payer: Payer,
  pay_to: PayTo,
  amount: AtomicMember.describe('What the payee received, in atomic USDC.'),
});

/** A transfer as its chain has it, of a lane without a payment of this service. */
export const TransferFactsNoun = z.object({
  network: z.string().describe('Network of the transfer: `base`, `solana` or `nano`.'),
  rail: z.string().describe('What was paid with: `usdc` or `xno`.'),
  asset: z.string().describe('Address of the token, or `XNO`.'),
  transaction: z.string().describe('Id of the transaction, or of the block on Nano.'),
  index: z.int().nullable().describe('Which transfer of its transaction. Null on Nano.'),
  payer: Payer,
  pay_to: PayTo,
  amount: AtomicMember.describe('Amount in atomic units of the rail: 6 decimals of USDC, 30 of XNO.'),
});

/** A generation of a router or a completion, as it was reported. */
export const ReportedNoun = z.object({
  by: z.string().describe('Router book by whose key it was reported; or `inbound:` and the source of a completion.'),
  generation_id: z.string().describe('Id of the generation or the completion at its source.'),
  rail: z.string().describe('Reported rail that it was paid on.'),
  amount: AtomicMember.describe('Reported cost, in millionths of a dollar.'),
  payment_ref: z.string().optional().describe('Reported payment. It proves nothing.'),
  verified_with: z
    .string()
    .optional()
    .describe('Router that confirmed it before this was signed, or network that showed the payment.'),
});

export const ReportedPartiesNoun = z.object({
  payer: z.string().describe('Wallet that is reported to have paid.'),
  payee: z.string().describe('Wallet that is reported to have been paid.'),
  verified: z
    .boolean()
    .describe(
      'True if the chain had shown that transfer before this was signed. False if both wallets are as the reporter named them.',
    ),
});

export const ToleranceNoun = z.object({
  amount_atomic: AtomicMember.describe('Tolerance of an amount, in atomic units.'),
  clock_seconds: z.int().describe('Tolerance of a clock, in seconds.'),
});

export const IssuerHistoryReferenceNoun = z.object({
  hash: Hash.describe('SHA-256 of the snapshot.'),
  version: z.int().describe('Number of the snapshot.'),
  seq: z.int().describe('Number (`seq`) of the entry of the snapshot whose key signed.'),
});

export const PolicyReferenceNoun = z.object({
  hash: Hash.describe('SHA-256 of the canonical form of the policy.'),
  version: z.int().describe('Number of the policy.'),
});

/** A transfer that a stranger can look for. */
export const LocalCheckNoun = z.object({
  network: z.literal('base').describe('Always `base`.'),
  chain: z.string().describe('CAIP-2 id of the chain.'),
  asset: Asset,
  payee: z.string().describe('Wallet that is paid.'),
  amount: AtomicMember.describe('Amount in atomic USDC.'),
});

export const ChainBindingNoun = z.object({
  in_proof: z.boolean().describe('True if the commitment is on the chain through a proof system.'),
});

/** The whole answer that a payment brought later, where the answer of its receipt broke off. */
export const AnsweredAgainNoun = z.object({
  at: MomentMember.describe('Time of that answer (RFC 3339, UTC).'),
  output_sha256: z
    .string()
    .nullable()
    .describe(
      'SHA-256 of the output, by the rule of the receipt policy. Null if the whole answer has no output, as of a task that asks its caller for input.',
    ),
  rerun: z.int().min(1).max(limits.reruns_max).describe('Number of the rerun that brought this answer, from 1.'),
  hub: z.string().describe('Hub that gave this answer. The signed `hub` is that of the first attempt.'),
  model: z.string().describe('Model that this hub was asked for.'),
  answered_model: z.string().nullable().describe('Model that this hub named in its answer. Null if it named none.'),
  answered_catalogue_model: z
    .string()
    .nullable()
    .describe(
      'Catalogue id of the model of this answer, by the rule of the signed `answered_catalogue_model`. Null where that one would be left out.',
    ),
});

/** A page of the receipts of a wallet, beside the receipts themselves. */
export const WalletReceiptsNoun = z.object({
  wallet: z.string().describe('Address of the wallet, in EIP-55 spelling.'),
  next: z.int().nullable().describe('`after` of the next page. Null if this is the last page.'),
});

export const WALLET_RECEIPTS = 'Receipts of this page, in the order of the log.';
