import * as z from 'zod';
import { canonicalJson, type Json, type JsonObject } from '../../../schema/canonical-json.ts';
import { documents } from '../../../schema/documents.ts';
import { networks } from '../../../schema/network.ts';
import { sumsAsJson } from '../../../schema/reconciliation.ts';
import {
  noSums,
  RECONCILIATION_RULE_VERSION,
  sumClasses,
  type TransferClass,
  transferClasses,
} from '../../../schema/reconciliation-rule.ts';
import { type OpenedDocument, verifyIssuerDocument } from './issuer-document.ts';
import type { DocumentVerification } from './report.ts';
import type { Report } from './result.ts';
import { misshapen } from './shape.ts';
import type { Jwks } from './signature.ts';
import { type Rule, unless } from './signed-document.ts';

/**
 * Verifies a reconciliation against a published key set, offline: its signature, the order of its transfers within its blocks, the class
 * that follows from the facts of each transfer, and the sums.
 */
export function verifyReconciliation(
  document: JsonObject,
  jwks: Jwks,
  options: { readonly base_url?: string } = {},
): DocumentVerification {
  return verifyIssuerDocument(document, jwks, options, { name: 'reconciliation', rules, reportOn });
}

const text = z.string();
const address = text.regex(/^0x[0-9a-fA-F]{40}$/);
const hash = text.regex(/^0x[0-9a-f]{64}$/);
const digits = text.regex(/^(0|[1-9]\d{0,77})$/);
const count = z.int().min(0);

const TransferShape = z.looseObject({
  block_number: count,
  log_index: count,
  tx_hash: hash,
  payee: address,
  amount: digits,
  class: z.enum(transferClasses),
  used: z.looseObject({ by: z.enum(['receipt', 'ingest']) }).optional(),
});
const ReportShape = z.looseObject({
  schema: z.literal(documents.reconciliation),
  iss: text,
  report_id: text,
  agent_id: z.int(),
  wallet: address,
  chain: z.literal(networks.base.caip2),
  asset: z.literal(networks.base.usdc),
  from_block: count,
  from_block_hash: hash,
  to_block: count,
  to_block_hash: hash,
  final: z.boolean(),
  own_wallets: z.array(address),
  reported_at: text,
  rule_version: z.int(),
  truncated: z.boolean(),
  transfers: z.array(TransferShape),
  transfers_total: count,
  sums: z.looseObject({}),
});
type ReportDocument = z.output<typeof ReportShape>;
type ListedTransfer = z.output<typeof TransferShape>;

/** The claims as a report, whose shape the first rule has checked. */
const reported = ({ claims }: OpenedDocument) => claims as unknown as ReportDocument;

/** Rules in the order in which they are checked: each may rely on all before it. */
const rules: readonly Rule<OpenedDocument>[] = [
  {
    code: 'not_a_reconciliation',
    says: "The signed claims are a reconciliation of a wallet's transfers.",
    fault: ({ claims }) => {
      const member = misshapen(ReportShape, claims);
      return member === null ? null : `The signed claims are not a reconciliation: ${member} has the wrong type.`;
    },
  },
  {
    code: 'rule_unknown',
    says: 'The transfers were classified by a rule version that this verifier knows.',
    fault: opened =>
      unless(
        reported(opened).rule_version === RECONCILIATION_RULE_VERSION,
        'The transfers were classified by a rule version that this verifier does not know. Update the verifier.',
      ),
  },
  {
    code: 'order_broken',
    says: 'The transfers are in the order of the chain, each once, within the stated block range.',
    fault: opened => orderFault(reported(opened)),
  },
  {
    code: 'class_does_not_follow',
    says: 'Each transfer has the class that follows from its payee and from the receipt or record that uses it.',
    fault: opened => classFault(reported(opened)),
  },
  {
    code: 'sums_do_not_follow',
    says: 'The sums are those of the transfers.',
    fault: opened => sumFault(reported(opened)),
  },
];

function orderFault({ from_block, to_block, transfers }: ReportDocument): string | null {
  if (from_block > to_block) return 'to_block is before from_block.';
  const outside = transfers.find(({ block_number: at }) => at < from_block || at > to_block);
  if (outside) return `Block ${outside.block_number} is outside of the stated block range.`;
  const later = (one: ListedTransfer | undefined, other: ListedTransfer) =>
    one === undefined || one.block_number < other.block_number || isLaterInBlock(one, other);
  const wrong = transfers.find((each, at) => !later(transfers[at - 1], each));
  return wrong ? `Log ${wrong.log_index} of block ${wrong.block_number} is out of order, or listed twice.` : null;
}

function isLaterInBlock(one: ListedTransfer, other: ListedTransfer): boolean {
  return one.block_number === other.block_number && one.log_index < other.log_index;
}

function classFault({ own_wallets, wallet, transfers }: ReportDocument): string | null {
  const own = new Set(own_wallets.map(each => each.toLowerCase()));
  if (!own.has(wallet.toLowerCase())) return 'wallet is not one of own_wallets.';
  const wrong = transfers.find(each => each.class !== classOf(each, own));
  return wrong
    ? `Log ${wrong.log_index} of block ${wrong.block_number} is listed as ${wrong.class}, but its class is ${classOf(wrong, own)}.`
    : null;
}

function classOf({ payee, used }: ListedTransfer, own: ReadonlySet<string>): TransferClass {
  if (own.has(payee.toLowerCase())) return 'self_dealt';
  if (used === undefined) return 'unreceipted';
  return used.by === 'receipt' ? 'receipted' : 'ingested';
}

/** The fault of the sums; null if there is none. If the list is truncated, no sum may be less than that of the listed transfers. */
function sumFault({ transfers, transfers_total, truncated, sums }: ReportDocument): string | null {
  const listed = sumClasses(
    noSums,
    transfers.map(({ class: of, amount }) => ({ class: of, transfer: { amount: BigInt(amount) } })),
  );
  if (truncated !== transfers.length < transfers_total || transfers.length > transfers_total)
    return 'The number of transfers contradicts transfers_total or truncated.';
  if (!truncated)
    return unless(
      canonicalJson(sumsAsJson(listed)) === canonicalJson(sums as Json),
      'The sums differ from those of the transfers.',
    );
  const said = SumsShape.safeParse(sums);
  if (!said.success) return 'The sums have the wrong type.';
  const total = transferClasses.reduce((all, of) => all + said.data[of].count, 0);
  if (total !== transfers_total) return 'The counts in the sums do not add up to transfers_total.';
  const short = transferClasses.find(
    of => said.data[of].count < listed[of].count || BigInt(said.data[of].amount) < listed[of].amount,
  );
  return short ? `The sum of ${short} is less than that of the listed transfers.` : null;
}

const SumShape = z.strictObject({ count, amount: digits });
const SumsShape = z.strictObject({
  receipted: SumShape,
  ingested: SumShape,
  unreceipted: SumShape,
  self_dealt: SumShape,
});

/** What a reconciliation that has passed every rule leaves open. */
function reportOn(claims: JsonObject): Report {
  const { from_block_hash, to_block_hash, truncated } = claims;
  return {
    unsigned: { lane: [], unknown: [] },
    broken: [],
    unchecked: [
      `Whether these are all transfers of the wallet: read the blocks from ${String(from_block_hash)} to ${String(to_block_hash)} from a node that you trust (\`npm run reconcile\`).`,
      'Whether each receipt that is named is valid: verify it at its verify_url.',
      'Whether an unreceipted transfer has a receipt by now, and whether own_wallets are all wallets of the owner.',
      ...(truncated === true ? ['Transfers that are not listed: the issuer states only their sums.'] : []),
    ],
  };
}
