import { checksummedAddress } from '../../../schema/eip55.ts';
import { Refusal } from '../../../schema/errors.ts';
import { limits } from '../../../schema/limits.ts';
import { PAYER_HEADER, type PayerProof, payersText, readPayerProof } from '../../../schema/payer-proof.ts';
import { possessedAgents } from '../../access.ts';
import { verifyTextForService } from '../../verify-for-service.ts';
import type { ReceiptContext } from '../context.ts';
import { requireNotHalted } from '../log/halt-guard.ts';

/** Credentials with which a caller may have bought something. Each of them is proven. */
export interface ProvenBuyer {
  /** Agents whose session or proof was sent. */
  readonly agent_ids: readonly number[];
  /** Wallets of those agents, and the wallet whose signature was sent. */
  readonly wallets: readonly string[];
  /** SHA-256 of a live key. A demo key is shared, so it must not show what others have bought with it. */
  readonly api_key_hash: string | null;
}

/** Known credentials with which a task was bought. */
export interface TaskOwner {
  readonly agent_id: number | null;
  readonly payer: string | null;
  readonly api_key_hash: string | null;
}

/** Whether the caller bought the task: it is on their book, was paid by their wallet, or was called with their key. */
export function isBoughtBy({ agent_id, payer, api_key_hash }: TaskOwner, buyer: ProvenBuyer): boolean {
  if (agent_id !== null && buyer.agent_ids.includes(agent_id)) return true;
  if (payer !== null && buyer.wallets.includes(payer)) return true;
  return api_key_hash !== null && api_key_hash === buyer.api_key_hash;
}

export const isUnproven = ({ agent_ids, wallets, api_key_hash }: ProvenBuyer): boolean =>
  agent_ids.length === 0 && wallets.length === 0 && api_key_hash === null;

type BuyerRequest = Pick<
  ReceiptContext,
  'database' | 'principal' | 'transfers' | 'walletOfAgent' | 'clock' | 'base_urls'
>;

/**
 * Credentials of the caller: agents whose books it possesses, a live key, and the wallet of a fresh signature. `shown`: value of
 * X-SVC-Payer, null if it was not sent.
 * @throws control_proof_invalid, chain_unavailable, unavailable; forbidden for a session that opens no book.
 */
export async function buyerOf(shown: string | null, asking: BuyerRequest): Promise<ProvenBuyer> {
  const { principal, walletOfAgent } = asking;
  if (shown !== null) requireNotHalted(asking.database);
  if (principal.possession.kind === 'wrong') throw new Refusal('forbidden');
  const agent_ids = possessedAgents(principal);
  const [signed, ...own] = await Promise.all([provenPayer(shown, asking), ...agent_ids.map(walletOfAgent)]);
  const { api_key } = principal;
  return {
    agent_ids,
    wallets: [signed ?? [], ...own.map(wallet => wallet ?? [])].flat(),
    api_key_hash: api_key.kind === 'live' ? api_key.hash : null,
  };
}

/** Wallet that signed the proof in the request. Null if the request has no such proof. */
async function provenPayer(shown: string | null, asking: BuyerRequest): Promise<string | null> {
  if (shown === null) return null;
  const proof = readPayerProof(shown);
  if (proof === null || !isFresh(proof, asking)) throw notProven();
  const { network, wallet, signature } = proof;
  // A wallet is accepted only in EIP-55 spelling, because receipts and the signed text contain it in this spelling.
  if (network === 'base' && !(/^0x[0-9a-fA-F]{40}$/.test(wallet) && checksummedAddress(wallet) === wallet))
    throw notProven();
  if (network === 'base' && !/^0x([0-9a-fA-F]{2})+$/.test(signature)) throw notProven();
  const by = { network, payer: wallet, signature, asker: asking.principal.address };
  const texts = asking.base_urls.map(url => payersText(url, proof));
  switch (await verifyTextForService(texts, by, it => asking.transfers.verifySigner(it, by))) {
    case 'valid':
      return wallet;
    case 'invalid':
      throw notProven();
    case 'unreachable':
      throw new Refusal('chain_unavailable');
    case 'no_turn':
      throw new Refusal('unavailable');
  }
}

function isFresh({ at_seconds }: PayerProof, { clock }: BuyerRequest): boolean {
  const age_seconds = Math.floor(clock.now_ms() / 1000) - at_seconds;
  const { wallet_signature_age_seconds_max, wallet_signature_ahead_seconds_max } = limits;
  return age_seconds <= wallet_signature_age_seconds_max && age_seconds >= -wallet_signature_ahead_seconds_max;
}

const notProven = () => new Refusal('control_proof_invalid', { param: PAYER_HEADER });
