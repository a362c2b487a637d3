import { Refusal } from '../../../schema/errors.ts';
import type { AgentId } from '../../../schema/ids.ts';
import { ingestLimits, limits } from '../../../schema/limits.ts';
import { foreignRef, type ObservedTransfer } from '../../../schema/observed-transfer.ts';
import type { IngestRequest } from '../../../schema/requests/ingest.ts';
import { signedText } from '../../../schema/signed-words.ts';
import type { Database } from '../../database.ts';
import { verifyTextForService } from '../../verify-for-service.ts';
import type { BookContext } from '../context.ts';

/* Proves the payer of a transfer. Transfers are public, so without a proof anyone could record the spending of others. */

type PayerSignature = Pick<IngestRequest, 'payer_signature' | 'payer_signature_timestamp'>;

/** Text that a payer signs to prove a payment, if the wallet is not known to belong to the agent. */
export function payerText(
  base_url: string,
  { agent_id, transfer }: { readonly agent_id: AgentId; readonly transfer: ObservedTransfer },
  at_seconds: number,
): string {
  const parts = { agent_id, 'network:transaction': foreignRef(transfer), unix_seconds: at_seconds };
  return signedText('ingest', base_url, parts);
}

/**
 * Requires a recent signature. Called before the chain is read.
 * @throws payer_signature_invalid
 */
export function requireFresh({ payer_signature_timestamp: at }: PayerSignature, now_ms: number): void {
  if (at === null) return;
  const age_seconds = now_ms / 1_000 - at;
  const fresh =
    age_seconds <= ingestLimits.payer_signature_seconds_max &&
    age_seconds >= -limits.wallet_signature_ahead_seconds_max;
  if (!fresh) throw new Refusal('payer_signature_invalid', { param: 'payer_signature_timestamp' });
}

/**
 * Whether the payer is proven: it is the agentWallet, has paid for calls of this book, or has signed this request.
 * @throws payer_signature_invalid; chain_unavailable, unavailable if the chain could not be read
 */
export async function isPayerProven(
  transfer: ObservedTransfer,
  agent_id: AgentId,
  { payer_signature: signature, payer_signature_timestamp: at }: PayerSignature,
  {
    database,
    transfers,
    principal,
    walletOfAgent,
    base_urls,
  }: Pick<BookContext, 'database' | 'transfers' | 'principal' | 'walletOfAgent' | 'base_urls'>,
): Promise<boolean> {
  const { network, payer } = transfer;
  if (network === 'base' && (await walletOfAgent(agent_id)) === payer) return true;
  const text = (base_url: string) => payerText(base_url, { agent_id, transfer }, at ?? 0);
  const by = signature !== null && at !== null ? { network, payer, signature, asker: principal.address } : null;
  const verdict = by && (await verifyTextForService(base_urls.map(text), by, it => transfers.verifySigner(it, by)));
  // The signature is checked first: a wallet that signs each ingest has rows here but no calls, and the search for a call would
  // read the whole book.
  if (verdict === 'valid' || (await hasPaidHere(database, agent_id, transfer))) return true;
  switch (verdict) {
    case null:
      return false;
    case 'invalid':
      throw new Refusal('payer_signature_invalid', { param: 'payer_signature' });
    case 'unreachable':
      throw new Refusal('chain_unavailable', { facts: { charged: false } });
    case 'no_turn':
      throw new Refusal('unavailable', { facts: { charged: false } });
  }
}

/**
 * Whether the payer has paid for a collected call of this book. Ingested payments do not count, because their payers were proven in
 * another way or not at all. The sums exclude unknown wallets without reading rows.
 */
async function hasPaidHere(
  database: Database,
  agent_id: AgentId,
  { network, payer }: ObservedTransfer,
): Promise<boolean> {
  const rows = await database.query({
    name: 'has paid for a call of this book',
    text: `select 1 from book_row where agent_id = $1 and payer_wallet = $2 and evidence = 'collected'
      and payment_ref like $3
      and exists (select 1 from book_sum where agent_id = $1 and dimension = 'payer' and bucket = $2) limit 1`,
    values: [agent_id, payer, `${network}:%`],
  });
  return rows.length > 0;
}
